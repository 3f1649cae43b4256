//! The interpreter as a device with ports.

use crate::{Disposition, Fault, Interpreter};
use control::{Device, Packet, Store, StoreError};

impl Device for Interpreter {
    fn store(&self) -> &dyn Store {
        self
    }

    fn store_mut(&mut self) -> &mut dyn Store {
        self
    }

    fn send(&mut self, packet: &Packet) -> Result<(), StoreError> {
        let outcome = self.run(packet.port, &packet.bytes);
        self.out.extend(outcome.copies);
        self.out.extend(outcome.packets);
        self.digests.extend(outcome.digests);
        match outcome.disposition {
            // The program itself ended this packet; the trace reports it.
            Disposition::Fault(Fault::AssertionFailed) => Ok(()),
            Disposition::Fault(fault) => {
                let what = format!("the packet was aborted: {fault}");
                Err(match fault {
                    Fault::StepBudget { .. } => StoreError::Endless { what },
                    _ => StoreError::System { what },
                })
            }
            _ => Ok(()),
        }
    }

    fn receive(&mut self) -> Result<Vec<Packet>, StoreError> {
        Ok(std::mem::take(&mut self.out))
    }

    fn wait(&mut self, nanoseconds: u64) -> Result<(), StoreError> {
        Interpreter::wait(self, nanoseconds);
        Ok(())
    }
}
