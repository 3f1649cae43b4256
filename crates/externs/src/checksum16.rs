//! `v1model`, its older form: the Internet checksum as an object.
//!
//! ```p4
//! extern Checksum16 {
//!     Checksum16();
//!     bit<16> get<D>(in D data);
//! }
//! ```

use crate::call::{Arg, Env, Fault, Reply, values};
use crate::hash::Algorithm;
use crate::{Extern, ExternState, Meaning, stateless};
use ir::Bits;

/// `Checksum16`
pub(crate) const EXTERN: Extern = Extern {
    name: "Checksum16",
    meaning: Meaning::Object {
        create: stateless,
        methods: &[("get", get)],
    },
};

fn get(_: &mut ExternState, args: &[Arg], _: &mut Env<'_>) -> Result<Reply, Fault> {
    let sum = Algorithm::Csum16.compute(values(args, 0)?);
    Ok(Reply::value(Bits::new(16, sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::testing::{arg, with_env};

    #[test]
    fn it_is_the_internet_checksum() {
        let run =
            |env: &mut Env<'_>| get(&mut ExternState::Stateless, &[arg(32, 0x0001_f203)], env);
        let reply = with_env(&[], 0, run).0;
        assert_eq!(reply, Ok(Reply::value(Bits::new(16, 0x0dfbu32))));
    }
}
