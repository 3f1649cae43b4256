use super::*;
use crate::print;
use crate::tree::{BinOp, Item, Type, Unit};

fn id(name: &str) -> Expr {
    Expr::id(name)
}

/// `memory->name = value;`
fn store(name: &str, value: Expr) -> Stmt {
    Stmt::Assign(id("memory").arrow(name), value)
}

fn set(name: &str, value: Expr) -> Stmt {
    Stmt::Assign(id(name), value)
}

fn label(name: &str) -> Stmt {
    Stmt::Label(name.into())
}

fn goto(name: &str) -> Stmt {
    Stmt::Goto(name.into())
}

fn done(value: u64) -> Stmt {
    Stmt::Return(Some(Expr::int(value)))
}

/// `if (cond) { yes }`
fn when(cond: &str, yes: Block) -> Stmt {
    Stmt::If(id(cond), yes, Block::new())
}

/// Counts statements, including those of nested blocks.
fn size(block: &[Stmt]) -> u32 {
    let own = |stmt: &Stmt| match stmt {
        Stmt::Label(_) => 0,
        Stmt::If(_, yes, no) => 1 + size(yes) + size(no),
        Stmt::Loop(body) | Stmt::Block(body) => size(body),
        _ => 1,
    };
    block.iter().map(own).sum()
}

fn locked(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Block(block) if block.first() == Some(&Stmt::Expr(Expr::call("lock", Vec::new()))))
}

fn function(name: &str, params: Vec<(Type, SmolStr)>, body: Block) -> Item {
    Item::Function {
        linkage: "static".into(),
        result: Type::U32,
        name: name.into(),
        params,
        body,
    }
}

/// Outlines functions from a body with variables `p` and `q`, at most `count` of `most` statements; statements
/// that mention `kept` stay.
fn cut_into(body: Block, most: u32, count: usize) -> String {
    cut_with(body, (most, count), None)
}

/// As [`cut_into`], with `iteration` before jumps back to other outlined functions.
fn cut_with(mut body: Block, (most, count): (u32, usize), iteration: Option<Stmt>) -> String {
    let form = OutlineOptions {
        variables: &["p", "q"].map(SmolStr::from).into(),
        kept: &["kept"].map(SmolStr::from).into(),
        entered: &HashSet::from(["outside".into()]),
        again: &HashSet::from(["turn".into()]),
        iteration,
        stays: &|stmt| matches!(stmt, Stmt::Label(label) if label == "turn"),
        deepest: 3,
        most,
        count,
        size: &size,
        is_whole: &locked,
        args: &[id("ctx")],
        result: id("memory").arrow("result"),
    };
    let mut number = 0;
    let (functions, at) = cut(&mut body, &form, &mut |wish| {
        number += 1;
        format!("{wish}{number}").into()
    });
    let mut items: Vec<Item> = Vec::new();
    for outlined in functions {
        let entered = outlined.entered.map(|name| (NUMBER, name));
        let mut body: Block = outlined
            .variables
            .into_iter()
            .map(|name| Stmt::decl(Type::U32, name, Expr::int(0)))
            .collect();
        body.extend(outlined.body);
        items.push(function(
            &outlined.name,
            entered.into_iter().collect(),
            body,
        ));
    }
    let declared = at.map(|at| Stmt::decl(NUMBER, at, Expr::int(0)));
    let body = declared.into_iter().chain(body).collect();
    items.push(function("whole", Vec::new(), body));
    print(&Unit { items })
}

fn outlined(body: Block, most: u32) -> String {
    cut_into(body, most, 100)
}

fn is_whole(text: &str) -> bool {
    text.matches("static").count() == 1
}

#[test]
fn a_loop_of_the_function_itself_is_cut_inside_and_its_iterations_are_counted_there() {
    let count = Stmt::MayJump {
        name: "count_turn".into(),
        args: Vec::new(),
        label: "out".into(),
    };
    let run = |name: &str| vec![set("p", id("packet")), store(name, id("p"))];
    let iterations = |begin: &str| {
        let mut body = vec![label(begin), count.clone()];
        body.extend(run("a"));
        body.extend(run("b"));
        body.extend([
            when("lost", vec![goto("out")]),
            when("more", vec![goto(begin)]),
        ]);
        body.extend(run("c"));
        body.extend([goto(begin), label("out"), done(0)]);
        body
    };
    let whole = |text: String| text[text.find("u32 whole").expect("it")..].to_owned();
    assert_eq!(
        whole(outlined(iterations("turn"), 4)),
        "\
u32 whole(void)
{
turn:;
    count_turn(out);
    part2(ctx);
    switch (part3(ctx)) {
    case 1:
        goto out;
    case 2:
        goto turn;
    }
    switch (part4(ctx)) {
    case 2:
        goto turn;
    }
out:;
    return 0;
}
"
    );
    // Any other loop stays in one outlined function, even if its iterations are counted.
    let other = outlined(iterations("other"), 4);
    assert!(!whole(other).contains("goto other"));
}

#[test]
fn states_of_a_parser_are_entered_by_number_and_left_by_number() {
    let state = |name: &str, next: [&str; 2]| {
        vec![
            label(name),
            set("p", id("packet")),
            when("bad", vec![goto("reject")]),
            store(name, id("p")),
            Stmt::If(id("far"), vec![goto(next[0])], vec![goto(next[1])]),
        ]
    };
    let mut body = state("a", ["c", "b"]);
    body.extend(state("b", ["c", "accept"]));
    body.extend(state("c", ["accept", "accept"]));
    body.extend([label("accept"), store("verdict", Expr::int(1)), done(2)]);
    body.extend([label("reject"), done(0)]);
    assert_eq!(
        outlined(body, 7),
        "\
static
u32 part5(void)
{
    u32 p = 0;
a:;
    p = packet;
    if (bad)
        goto reject;
    memory->a = p;
    if (far) {
        goto c;
    } else {
        goto b;
    }
    return 0;
b:;
    return 1;
c:;
    return 2;
reject:;
    return 3;
}

static
u32 part6(u32 enter_at1)
{
    u32 p = 0;
    switch (enter_at1) {
    case 1:
        goto b;
    }
b:;
    p = packet;
    if (bad)
        goto reject;
    memory->b = p;
    if (far) {
        goto c;
    } else {
        goto accept;
    }
    return 0;
accept:;
    return 4;
c:;
    return 2;
reject:;
    return 3;
}

static
u32 part7(u32 enter_at1)
{
    u32 p = 0;
    switch (enter_at1) {
    case 2:
        goto c;
    }
c:;
    p = packet;
    if (bad)
        goto reject;
    memory->c = p;
    if (far) {
        goto accept;
    } else {
        goto accept;
    }
    return 0;
accept:;
    return 4;
reject:;
    return 3;
}

static
u32 part8(u32 enter_at1)
{
    switch (enter_at1) {
    case 4:
        goto accept;
    }
accept:;
    memory->verdict = 1;
    return 0;
}

static
u32 whole(void)
{
    u32 enter_at1 = 0;
    enter_at1 = part5(ctx);
    switch (enter_at1) {
    case 2:
        goto enter_part3;
    case 3:
        goto reject;
    }
enter_part2:;
    enter_at1 = part6(ctx, enter_at1);
    switch (enter_at1) {
    case 4:
        goto enter_part4;
    case 3:
        goto reject;
    }
enter_part3:;
    enter_at1 = part7(ctx, enter_at1);
    switch (enter_at1) {
    case 3:
        goto reject;
    }
enter_part4:;
    enter_at1 = part8(ctx, enter_at1);
    return 2;
reject:;
    return 0;
}
"
    );
}

#[test]
fn a_variable_that_is_read_later_keeps_statements_together() {
    let body = |last: &str| {
        vec![
            set("p", id("packet")),
            store("a", id("p")),
            store("b", id(last)),
            store("c", id("x")),
            done(1),
        ]
    };
    assert!(!is_whole(&outlined(body("x"), 2)));
    let text = outlined(body("p"), 2);
    assert!(
        text.contains("memory->a = p;\n    memory->b = p;\n    return 0;"),
        "{text}"
    );
}

/// Also if the whole block could be an outlined function, and if a jump leads to a statement that reads the variable.
#[test]
fn a_variable_of_the_code_around_a_block_is_not_that_of_a_part() {
    let inner = vec![
        store("a", id("p")),
        store("b", id("x")),
        store("c", id("x")),
    ];
    let around = vec![set("p", id("packet")), when("x", inner), done(1)];
    let text = outlined(around, 2);
    assert!(text.contains("memory->a = p;\n        part"), "{text}");
    let inner = vec![
        store("a", id("x")),
        set("p", id("x")),
        when("y", vec![goto("out")]),
        set("p", Expr::int(0)),
    ];
    let around = vec![
        when("x", inner),
        set("p", Expr::int(1)),
        label("out"),
        store("b", id("p")),
        done(1),
    ];
    let text = outlined(around, 2);
    assert!(!text.contains("case"), "{text}");
}

#[test]
fn a_loop_is_in_one_part() {
    let body = vec![
        store("a", id("x")),
        label("again"),
        store("b", id("x")),
        store("c", id("x")),
        when("more", vec![goto("again")]),
        store("d", id("x")),
        store("e", id("x")),
        done(1),
    ];
    let text = outlined(body, 2);
    assert!(
        text.contains("again:;\n    memory->b = x;\n    memory->c = x;\n    if (more)\n        goto again;\n    return 0;"),
        "{text}"
    );
    let body = vec![
        Stmt::Loop(vec![
            store("a", id("x")),
            store("b", id("x")),
            when("y", vec![Stmt::Break]),
        ]),
        done(1),
    ];
    let text = outlined(body, 2);
    assert!(text.contains("for (;;) {\n        part"), "{text}");
    assert!(text.contains("if (y) {\n            break;"), "{text}");
}

/// A loop that is larger than an outlined function is cut if its iterations can be counted where one function
/// jumps back to another.
#[test]
fn a_large_loop_is_in_several_functions_if_its_iterations_can_be_counted() {
    let body = vec![
        label("again"),
        store("a", id("x")),
        store("b", id("x")),
        label("middle"),
        store("c", id("x")),
        when("less", vec![goto("middle")]),
        when("more", vec![goto("again")]),
        done(1),
    ];
    let count = Stmt::MayJump {
        name: "count_turn".into(),
        args: Vec::new(),
        label: "out".into(),
    };
    let text = cut_with(body, (2, 100), Some(count));
    assert_eq!(
        text[text.find("u32 whole").expect("it")..],
        *"\
u32 whole(void)
{
    u32 enter_at1 = 0;
    enter_at1 = 0;
enter_part2:;
    enter_at1 = part4(ctx, enter_at1);
enter_part3:;
    enter_at1 = part5(ctx, enter_at1);
    enter_at1 = part6(ctx);
    switch (enter_at1) {
    case 2:
        count_turn(out);
        goto enter_part3;
    }
    enter_at1 = part7(ctx);
    switch (enter_at1) {
    case 1:
        count_turn(out);
        goto enter_part2;
    }
    return 1;
}
"
    );
}

#[test]
fn what_an_outlined_function_is_to_return_goes_through_memory() {
    let body = vec![
        store("a", id("x")),
        when("x", vec![done(7)]),
        store("b", id("x")),
        done(1),
    ];
    let text = outlined(body, 3);
    assert!(
        text.contains("memory->result = 7;\n        return 0xffffffff;"),
        "{text}"
    );
    assert!(
        text.contains("case 0xffffffff:\n        return memory->result;"),
        "{text}"
    );
    assert!(text.trim_end().ends_with("return 1;\n}"), "{text}");
}

#[test]
fn what_was_declared_before_stays_where_it_is() {
    let body = vec![
        store("a", id("kept")),
        store("b", id("x")),
        store("c", id("x")),
        store("d", id("kept")),
        done(1),
    ];
    let text = outlined(body, 2);
    let (inner, whole) = text.split_once("static\nu32 whole").expect("two functions");
    assert!(
        inner.contains("memory->b") && !inner.contains("kept"),
        "{text}"
    );
    assert!(
        whole.contains("memory->a = kept") && whole.contains("memory->d = kept"),
        "{text}"
    );
    let declared = vec![
        Stmt::decl(Type::U32, "own", Expr::int(0)),
        store("a", id("x")),
        store("b", id("own")),
        store("c", id("x")),
        done(1),
    ];
    let text = outlined(declared, 2);
    assert!(
        text.contains("u32 own = 0;\n    memory->a = x;\n    memory->b = own;"),
        "{text}"
    );
}

#[test]
fn nothing_is_cut_while_a_lock_is_held_nor_beyond_a_number_of_functions() {
    let statements = |count: usize| (0..count).map(|_| store("a", id("x")));
    let mut inside = vec![Stmt::Expr(Expr::call("lock", Vec::new()))];
    inside.push(when("x", statements(8).collect()));
    let text = outlined(vec![Stmt::Block(inside), done(1)], 2);
    assert!(
        !text.contains("static\nu32 part2") || text.contains("lock();\n        if (x)"),
        "{text}"
    );
    let many: Block = statements(8).chain([done(1)]).collect();
    let functions = |count| cut_into(many.clone(), 2, count).matches("static").count();
    assert_eq!((functions(0), functions(2), functions(100)), (1, 3, 5));
}

/// Two kinds of code enter an outlined function by number: code before the body, of which only the labels are known,
/// and code that stays in the function.
#[test]
fn jumps_from_elsewhere_enter_a_part() {
    let body = vec![
        when("kept", vec![goto("late")]),
        store("a", id("x")),
        store("b", id("x")),
        label("late"),
        store("c", id("x")),
        store("d", Expr::bin(BinOp::Add, id("x"), Expr::int(1))),
        label("outside"),
        store("e", id("x")),
        store("f", id("x")),
        store("kept", id("kept")),
        done(1),
    ];
    let text = outlined(body, 8);
    for jump in ["late:;\n    enter_at1 = ", "outside:;\n    enter_at1 = "] {
        assert!(text.contains(jump), "{text}");
    }
    assert!(text.contains("enter_at1 = 0;\nenter_part"), "{text}");
    assert!(text.contains("case 1:\n        goto late;"), "{text}");
}

#[test]
fn variables_whose_first_value_is_read_are_live_at_the_start() {
    let limb = |i| Expr::id("wide").index(Expr::int(i));
    let body = vec![
        when("always", vec![set("p", Expr::int(1)), goto("joined")]),
        set("p", Expr::int(2)),
        when("always", vec![set("some", Expr::int(1))]),
        label("joined"),
        Stmt::Assign(limb(0), id("p")),
        Stmt::Assign(limb(1), limb(0)),
        Stmt::Expr(Expr::call("use", vec![id("wide"), id("some")])),
        done(1),
        label("outside"),
        store("a", id("late")),
        done(1),
    ];
    let live = |limbs: usize, entered: &[&str]| {
        let names = ["p", "some", "late", "unused"].map(|name| (name.into(), 1));
        let variables = names.into_iter().chain([("wide".into(), limbs)]).collect();
        let entered = entered.iter().map(|&label| label.into()).collect();
        let mut live: Vec<_> = live_at_start(&body, &variables, &entered)
            .into_iter()
            .collect();
        live.sort();
        live
    };
    assert_eq!(live(2, &[]), ["some"]);
    assert_eq!(live(2, &["outside"]), ["late", "some"]);
    // A limb that is never written is read by the call.
    assert_eq!(live(3, &[]), ["some", "wide"]);
}

#[test]
fn variables_that_are_read_before_paths_meet_are_short_lived() {
    let read = |name: &str| set("sum", Expr::bin(BinOp::Add, id(name), Expr::int(1)));
    let load = || Expr::pure("load", Vec::new());
    let short = |rest: Block| {
        let body: Block = [set("x", load())].into_iter().chain(rest).collect();
        short_lived(&body).contains("x")
    };
    assert!(short(vec![when("q", vec![goto("reject")]), read("x")]));
    assert!(short(vec![read("x"), when("x", vec![done(1)]), read("y")]));
    assert!(!short(vec![when("q", vec![read("q")]), read("x")]));
    assert!(!short(vec![when("q", vec![read("x")])]));
    assert!(!short(vec![label("joined"), read("x")]));
    assert!(!short(vec![read("x"), set("x", load())]));
    let far: Block = (0..40).map(|_| read("q")).chain([read("x")]).collect();
    assert!(!short(far));
    // A call and a comparison have several paths, each with a value of its own.
    let call = vec![set("c", Expr::call("call", Vec::new())), read("c")];
    let less = Expr::bin(BinOp::Lt, id("q"), Expr::int(1));
    let compared = vec![set("d", less), read("d")];
    let body: Block = call.into_iter().chain(compared).collect();
    assert_eq!(short_lived(&body).len(), 0);
}
