# `aioquic_get.py ADDRESS NAME SECONDS` gets `/whole` of a name at an address by HTTP/3, and writes it out. It ends with 28 when the time is
# over, as curl does.
import asyncio
import os
import ssl
import sys

from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration

TIMED_OUT = 28


class Browser(QuicConnectionProtocol):
    def __init__(self, *args, **settings):
        super().__init__(*args, **settings)
        self.requests = H3Connection(self._quic)
        self.body = b""
        self.done = asyncio.get_running_loop().create_future()

    def quic_event_received(self, event):
        for got in self.requests.handle_event(event):
            if isinstance(got, DataReceived):
                self.body += got.data
            if isinstance(got, (DataReceived, HeadersReceived)) and got.stream_ended and not self.done.done():
                self.done.set_result(self.body)

    def get(self, name):
        stream = self._quic.get_next_available_stream_id()
        fields = {":method": "GET", ":scheme": "https", ":authority": name, ":path": "/whole"}
        headers = [(key.encode(), value.encode()) for key, value in fields.items()]
        self.requests.send_headers(stream, headers, end_stream=True)
        self.transmit()
        return self.done


async def whole(address, name):
    settings = QuicConfiguration(alpn_protocols=H3_ALPN, server_name=name, verify_mode=ssl.CERT_NONE)
    async with connect(address, 443, configuration=settings, create_protocol=Browser) as browser:
        return await browser.get(name)


async def main(address, name, seconds):
    # Closing a connection that nobody answers takes time of its own, so the end does not wait for it.
    task = asyncio.ensure_future(whole(address, name))
    done, _ = await asyncio.wait([task], timeout=float(seconds))
    if not done:
        sys.stderr.write("timed out\n")
        sys.stderr.flush()
        os._exit(TIMED_OUT)
    sys.stdout.buffer.write(task.result())


asyncio.run(main(*sys.argv[1:]))
