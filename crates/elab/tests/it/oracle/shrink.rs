//! temporary
use super::*;

fn whole(text: &str) -> String {
    let Some((top, rest)) = text.split_once("//A\n") else {
        return String::new();
    };
    let Some((parsing, controls)) = rest.split_once("//B\n") else {
        return String::new();
    };
    packet::complete(&packet::Parts {
        top: top.into(),
        parsing: parsing.into(),
        controls: controls.into(),
    })
}

fn differs(loader: &MemoryLoader, text: &str, packet: &[u8]) -> bool {
    let text = &whole(text);
    std::panic::set_hook(Box::new(|_| {}));
    let found = catch_unwind(AssertUnwindSafe(|| {
        let mut program = Program::new(loader, text)?;
        let (a, b) = program.run(packet);
        Some(a != b)
    }));
    matches!(found, Ok(Some(true)))
}

fn depth(text: &str) -> i32 {
    text.chars()
        .map(|c| match c {
            '{' | '(' | '[' => 1,
            '}' | ')' | ']' => -1,
            _ => 0,
        })
        .sum()
}

#[test]
#[ignore]
fn shrink() {
    let loader = loader();
    let seed = setting("ONPATH_ORACLE_SEED", 1);
    let mut numbers = Numbers::new(seed);
    let parts = program::random(&mut numbers);
    let mut body = format!("{}//A\n{}//B\n{}", parts.top, parts.parsing, parts.controls);
    let mut packet = Vec::new();
    for _ in 0..2 {
        let mut byte = || match numbers.below(2) {
            0 => numbers.below(5) as u8,
            _ => numbers.below(256) as u8,
        };
        packet = (0..packet::LENGTH).map(|_| byte()).collect();
        if differs(&loader, body.as_str(), &packet) {
            break;
        }
    }
    let bad = |b: &str| differs(&loader, b, &packet);
    assert!(bad(&body));
    loop {
        let before = body.clone();
        for size in [16, 8, 6, 5, 4, 3, 2, 1] {
            let mut i = 0;
            loop {
                let lines: Vec<&str> = body.lines().collect();
                if i + size > lines.len() {
                    break;
                }
                let chunk = lines[i..i + size].join("\n");
                let rest = [&lines[..i], &lines[i + size..]].concat().join("\n") + "\n";
                if depth(&chunk) == 0 && bad(&rest) {
                    body = rest;
                } else {
                    i += 1;
                }
            }
        }
        // blocks: unwrap or remove by line of opening
        let mut i = 0;
        loop {
            let lines: Vec<String> = body.lines().map(str::to_owned).collect();
            if i >= lines.len() {
                break;
            }
            let mut done = false;
            if depth(&lines[i]) > 0 {
                let mut d = 0;
                for j in i..lines.len() {
                    d += depth(&lines[j]);
                    if d == 0 {
                        for keep in [false, true] {
                            let inner = if keep {
                                lines[i + 1..j].to_vec()
                            } else {
                                vec![]
                            };
                            let rest = [lines[..i].to_vec(), inner, lines[j + 1..].to_vec()]
                                .concat()
                                .join("\n")
                                + "\n";
                            if bad(&rest) {
                                body = rest;
                                done = true;
                                break;
                            }
                        }
                        break;
                    }
                }
            }
            if !done {
                i += 1;
            }
        }
        // expressions
        let mut i = 0;
        while i < body.len() {
            if !body.is_char_boundary(i) {
                i += 1;
                continue;
            }
            let c = body.as_bytes()[i];
            if matches!(c, b'(' | b'[') {
                let mut d = 0;
                let mut end = None;
                for (k, ch) in body[i..].char_indices() {
                    match ch {
                        '(' | '{' | '[' => d += 1,
                        ')' | '}' | ']' => d -= 1,
                        _ => {}
                    }
                    if d == 0 {
                        end = Some(i + k + 1);
                        break;
                    }
                }
                if let Some(end) = end {
                    let mut start = i;
                    while start > 0
                        && (body.as_bytes()[start - 1].is_ascii_alphanumeric()
                            || matches!(body.as_bytes()[start - 1], b'.' | b'_'))
                    {
                        start -= 1;
                    }
                    let mut options = vec![];
                    for from in [start, i] {
                        for to in ["8w0", "8w1", "true", "false", "16w0", "0", "v", ""] {
                            options.push(format!("{}{to}{}", &body[..from], &body[end..]));
                        }
                    }
                    if c == b'(' {
                        // keep one operand
                        let inner = &body[i + 1..end - 1];
                        let mut d = 0;
                        for (k, ch) in inner.char_indices() {
                            match ch {
                                '(' | '{' | '[' => d += 1,
                                ')' | '}' | ']' => d -= 1,
                                _ => {}
                            }
                            if d == 0 && ch == ' ' {
                                options.push(format!(
                                    "{}{}{}",
                                    &body[..i],
                                    &inner[..k],
                                    &body[end..]
                                ));
                                options.push(format!(
                                    "{}{}{}",
                                    &body[..i],
                                    &inner[k + 1..],
                                    &body[end..]
                                ));
                                if let Some((_, r)) = inner[k + 1..].split_once(' ') {
                                    options.push(format!("{}{}{}", &body[..i], r, &body[end..]));
                                }
                            }
                        }
                    }
                    if let Some(o) = options.into_iter().find(|o| o.len() < body.len() && bad(o)) {
                        body = o;
                        continue;
                    }
                }
            }
            i += 1;
        }
        if body == before {
            break;
        }
    }
    let mut p = Program::new(&loader, &whole(&body)).unwrap();
    let (a, b) = p.run(&packet);
    println!("{packet:02x?}\n{body}\ninterpreter {a:02x?}\noracle      {b:02x?}");
}
