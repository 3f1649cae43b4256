//! `v1model`: a meter for each entry of the table that names it.
//!
//! ```p4
//! extern direct_meter<T> {
//!     direct_meter(MeterType type);
//!     void read(out T result);
//! }
//! ```
//!
//! Outside an entry's action there is no meter, and the colour is green.

use crate::call::{Arg, Env, Fault, Reply};
use crate::meter::Color;
use crate::{Extern, Meaning, State, stateless};
use ir::Bits;

/// `direct_meter`
pub(crate) const EXTERN: Extern = Extern {
    name: "direct_meter",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[("read", read)],
    },
};

fn read(_: &mut State, _: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let (now, bytes) = (env.now, env.packet.len() as u64);
    let color = match &mut env.direct_meter {
        Some(meter) => meter.execute(now, bytes),
        None => Color::Green,
    };
    Ok(Reply::out(0, vec![Bits::new(32, color as u32)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::with_env;
    use crate::meter::Meter;

    #[test]
    fn the_entrys_meter_is_read() {
        let (reply, _) = with_env(&[], 0, |env| {
            let mut meter = Meter::new(false);
            meter.set_limits(0, Some([(0, 0), (0, 0)]));
            let mut effects = Vec::new();
            let mut inner = Env {
                now: 0,
                rng: &mut *env.rng,
                numbers: &mut *env.numbers,
                packet: &[],
                parsed: 0,
                direct_meter: Some(&mut meter),
                effects: &mut effects,
            };
            read(&mut State::Stateless, &[], &mut inner)
        });
        assert_eq!(reply.unwrap().outs[0].1, [Bits::new(32, 2u32)]);
        let (reply, _) = with_env(&[], 0, |env| read(&mut State::Stateless, &[], env));
        assert_eq!(reply.unwrap().outs[0].1, [Bits::new(32, 0u32)]);
    }
}
