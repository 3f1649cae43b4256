//! `v1model`: a meter for each entry of the table that names it.
//!
//! ```p4
//! extern direct_meter<T> {
//!     direct_meter(MeterType type);
//!     void read(out T result);
//! }
//! ```
//!
//! As in BMv2, the meter takes a packet's tokens when the packet hits the entry, once, whether or not the entry's
//! action reads the colour. Outside an entry's action there is no meter, and the colour is green.

use crate::call::{Arg, Env, Fault, Reply};
use crate::meter::Color;
use crate::{Extern, ExternState, Meaning, stateless};
use ir::Bits;

/// `direct_meter`
pub(crate) const EXTERN: Extern = Extern {
    name: "direct_meter",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[("read", read)],
    },
};

fn read(_: &mut ExternState, _: &[Arg], env: &mut Env<'_>) -> Result<Reply, Fault> {
    let color = env.direct_color.unwrap_or(Color::Green);
    Ok(Reply::out(0, vec![Bits::new(32, color as u32)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::with_env;

    #[test]
    fn the_colour_of_the_hit_is_read() {
        for (color, number) in [(Some(Color::Yellow), 1u32), (None, 0)] {
            let (reply, _) = with_env(&[], 0, |env| {
                env.direct_color = color;
                read(&mut ExternState::Stateless, &[], env)
            });
            assert_eq!(reply.unwrap().outs[0].1, [Bits::new(32, number)]);
        }
    }
}
