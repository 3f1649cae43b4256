//! Functions, actions, tables and controls.

use super::{Body, Callable, Generator, Param, Scope, Table, Ty};

/// Variables of a control: scalars, and those that have scalars in them.
const LOCALS: [(&str, Ty); 8] = [
    ("v", Ty::Byte),
    ("w", Ty::Word),
    ("i", Ty::Signed),
    ("b", Ty::Bool),
    ("m", Ty::Pair),
    ("n[@]", Ty::Byte),
    ("g[@][@]", Ty::Byte),
    ("k[@]", Ty::Pair),
];

/// Last statements of a program that does not exit: they output the values of its variables.
const LAST: &str = "bit<8> f = 0;
bit<8> h = 0;
bit<8> u = 0;
for (bit<8> j in 0 .. 3) {
f = f * 3 + k[j].p + 5 * k[j].q;
for (bit<8> l in 0 .. 3) {
h = h * 3 + g[j][l];
}
u = u * 5 + (us[j].h.isValid() ? us[j].h.x : 8w0) + (us[j].g.isValid() ? 8w1 : 8w0);
}
hdr.o = { m.p, m.q, v, n[0], n[1] ^ n[2] ^ n[3], w, i, (b ? 8w1 : 8w0), h, f, u };
";

/// Functions of every program. They make each value visible that they are given, and change what they can.
const KNOWN: &str = "T swap<T>(inout T x, inout T y) { T old = x; x = y; y = old; return old; }
bit<8> next(inout bit<8> x) { x = x + 1; return x; }
bit<8> mix(in bit<8> x, in bit<8> y, in bit<8> z) { return x + 3 * y + 7 * z; }
";

/// Returns callables for these functions, and for a function of the model.
fn known() -> Vec<Callable> {
    let function = |text: &str, params: &[&str], direction, ty| Callable {
        text: text.to_owned(),
        params: (params.iter())
            .map(|name| Param {
                name: (*name).to_owned(),
                direction,
                ty,
            })
            .collect(),
        result: Some(ty),
        exits: false,
    };
    let swap = |ty| function("swap", &["x", "y"], "inout", ty);
    let mut known: Vec<Callable> = [Ty::Byte, Ty::Word, Ty::Pair, Ty::Header].map(swap).into();
    known.push(function("next", &["x"], "inout", Ty::Byte));
    known.push(function("mix", &["x", "y", "z"], "in", Ty::Byte));
    known.push(function(
        "csum_replace2",
        &["csum", "old", "new"],
        "in",
        Ty::Word,
    ));
    known
}

impl Generator<'_> {
    /// Functions.
    pub(super) fn functions(&mut self) -> String {
        let mut text = KNOWN.to_owned();
        self.functions = known();
        for _ in 0..1 + self.below(3) {
            text += &self.function();
        }
        text
    }

    /// Statements of the parser.
    pub(super) fn parsing(&mut self) -> String {
        self.scope = Scope::new(Body::Parser);
        self.scope.declare_headers();
        self.fuel = 10;
        let statements = self.below(3);
        self.block(statements, 2)
    }

    /// Controls, that of the program last.
    pub(super) fn controls(&mut self) -> String {
        let mut text = String::new();
        let mut controls: Vec<Callable> = Vec::new();
        for i in 0..[0, 0, 1, 1, 2][self.below(5)] {
            let exits = self.chance(15);
            let params = self.params("p", &[Ty::Stack, Ty::Union, Ty::Other], exits);
            let name = format!("k{i}");
            text += &self.control(&name, &params, &controls, exits);
            controls.push(Callable {
                text: name,
                params,
                result: None,
                exits,
            });
        }
        let headers = Param {
            name: "hdr".to_owned(),
            direction: "inout",
            ty: Ty::Stack,
        };
        text + &self.control("c", &[headers], &controls, true)
    }

    /// Parameters of common types, and of some others.
    fn params(&mut self, prefix: &str, others: &[Ty], exits: bool) -> Vec<Param> {
        let common = [
            Ty::Byte,
            Ty::Byte,
            Ty::Byte,
            Ty::Nibble,
            Ty::Word,
            Ty::Pair,
            Ty::Header,
        ];
        let all: Vec<Ty> = common.iter().chain(others).copied().collect();
        let mut params = Vec::new();
        for i in 0..1 + self.below(4) {
            let ty = all[self.below(all.len())];
            let direction = match ty {
                Ty::Nibble if exits => "in",
                // The specification does not define the fields of an invalid header.
                Ty::Header | Ty::Other | Ty::Stack | Ty::Union => self.any(&["in", "inout"]),
                _ => self.any(&["in", "inout", "inout", "out"]),
            };
            params.push(Param {
                name: format!("{prefix}{i}"),
                direction,
                ty,
            });
        }
        params
    }

    fn declare_params(&mut self, params: &[Param]) -> String {
        let mut texts = Vec::new();
        for Param {
            name,
            direction,
            ty,
        } in params
        {
            self.scope
                .declare(name, *ty, matches!(*direction, "out" | "inout"));
            texts.push(
                format!("{direction} {} {name}", ty.text())
                    .trim_start()
                    .to_owned(),
            );
        }
        texts.join(", ")
    }

    fn function(&mut self) -> String {
        let params = self.params("p", &[Ty::Signed, Ty::Other], false);
        let results = [
            Ty::Byte,
            Ty::Byte,
            Ty::Byte,
            Ty::Nibble,
            Ty::Word,
            Ty::Bool,
            Ty::Pair,
            Ty::Header,
        ];
        let result = match self.chance(90) {
            true => Some(results[self.below(results.len())]),
            false => None,
        };
        self.scope = Scope::new(Body::Function(result));
        self.fuel = 15;
        let given = self.declare_params(&params);
        self.scope.declare("v", Ty::Byte, true);
        let statements = 1 + self.below(3);
        let body = self.block(statements, 2);
        let name = format!("f{}", self.functions.len());
        let returned = self.returned();
        self.functions.push(Callable {
            text: name.clone(),
            params,
            result,
            exits: false,
        });
        let ty = result.map_or("void", Ty::text);
        format!("{ty} {name}({given}) {{\nbit<8> v = 0;\n{body}{returned}}}\n")
    }

    fn action(&mut self, number: usize, may_exit: bool) -> String {
        let exits = may_exit && self.chance(25);
        let mut params = self.params("q", &[Ty::Other], exits);
        if self.chance(50) {
            params.push(Param {
                name: "data".to_owned(),
                direction: "",
                ty: Ty::Byte,
            });
        }
        let outer = self.scope.clone();
        self.scope.body = Body::Action;
        self.scope.may_exit = exits;
        self.fuel = 15;
        let given = self.declare_params(&params);
        let statements = 1 + self.below(3);
        let body = self.block(statements, 2);
        self.scope = outer;
        let text = format!("a{number}");
        let declared = format!("action {text}({given}) {{\n{body}}}\n");
        self.scope.callables.push(Callable {
            text,
            params,
            result: None,
            exits,
        });
        declared
    }

    fn table(&mut self, number: usize) -> String {
        // Tables are applied in neither keys nor arguments of another.
        self.scope.body = Body::Action;
        self.favourite = self.below(1000);
        self.fuel = 15;
        let kinds: &[&str] = self.any(&[
            &["exact"] as &[&str],
            &["lpm"],
            &["ternary"],
            &["ternary", "exact"],
        ]);
        let mut text = format!("table t{number} {{\nkey = {{\n");
        for (i, kind) in kinds.iter().enumerate() {
            let key = self.expr(Ty::Byte, 2);
            text += &format!("{key} & 7 : {kind} @name(\"k{i}\");\n");
        }
        text += "}\nactions = {\n";
        let (mut names, mut exits) = (Vec::new(), false);
        for action in self.scope.callables.clone() {
            if !action.text.starts_with('a') {
                continue;
            }
            let directed = action.params.iter().filter(|p| !p.direction.is_empty());
            if let Some(given) = self.arguments(directed, false, 3) {
                text += &format!("{}({given});\n", action.text);
                exits |= action.exits;
                names.push((
                    action.text.clone(),
                    action.params.iter().any(|p| p.direction.is_empty()),
                ));
            }
        }
        text += "NoAction;\n}\n";
        let call = |generator: &mut Self| {
            let Some((name, data)) = names.get(generator.numbers.below(names.len() + 1)) else {
                return "NoAction()".to_owned();
            };
            let data = if *data {
                format!("8w{}", generator.below(8))
            } else {
                String::new()
            };
            format!("{name}({data})")
        };
        text += &format!(
            "const default_action = {};\nconst entries = {{\n",
            call(self)
        );
        for i in 0..3 {
            let set = match kinds[0] {
                "exact" => format!("8w{}", 2 * i),
                "lpm" => format!("8w{} &&& 8w{}", self.below(8), 256 - (2 << (2 * i))),
                _ => {
                    let mask = self.any(&["8w0", "8w1", "8w3", "8w6"]);
                    let first = format!("8w{} &&& {mask}", self.below(8));
                    match kinds.len() {
                        1 => first,
                        _ => format!("({first}, 8w{})", self.below(4)),
                    }
                }
            };
            text += &format!("{set} : {};\n", call(self));
        }
        text += "}\n}\n";
        self.scope.body = Body::Apply;
        self.scope.tables.push(Table {
            text: format!("t{number}"),
            actions: names.into_iter().map(|(name, _)| name).collect(),
            exits,
        });
        text
    }

    /// A control; `c` is the program's own, which has the headers.
    fn control(
        &mut self,
        name: &str,
        params: &[Param],
        controls: &[Callable],
        exits: bool,
    ) -> String {
        self.scope = Scope::new(Body::Apply);
        let is_main = name == "c";
        let given = if is_main {
            self.scope.declare_headers();
            "inout headers_t hdr, in xdp_input xin, out xdp_output xout".to_owned()
        } else {
            self.declare_params(params)
        };
        let mut text = format!("control {name}({given}) {{\n");
        self.fuel = 10;
        text += &format!("bit<8> v = {};\n", self.expr(Ty::Byte, 1));
        text += "bit<16> w = 0;\nint<8> i = 0;\nbool b = false;\npair_t m = { 0, 0 };\n";
        text += "bit<8>[4] n;\nbit<8>[4][4] g;\npair_t[4] k;\nu_t[4] us;\n";
        for (name, ty) in LOCALS {
            self.scope.declare(name, ty, true);
        }
        if is_main {
            self.scope.declare("us[@]", Ty::Union, true);
        }
        for i in 0..1 + self.below(3) {
            text += &self.action(i, exits);
        }
        for i in 0..self.below(3) {
            text += &self.table(i);
        }
        for control in controls {
            for _ in 0..1 + self.below(2) {
                let instance = self.fresh("c");
                text += &format!("{}() {instance};\n", control.text);
                self.scope.callables.push(Callable {
                    text: format!("{instance}.apply"),
                    ..control.clone()
                });
            }
        }
        self.scope.may_exit = exits;
        self.fuel = if is_main { 40 } else { 15 };
        let statements = if is_main { 6 } else { 3 };
        let body = self.block(statements, 3);
        let (first, last) = match is_main {
            true => ("xout.output_action = xdp_action.XDP_PASS;\n", LAST),
            false => ("", ""),
        };
        text + &format!("apply {{\n{first}{body}{last}}}\n}}\n")
    }
}
