use super::*;
use jiff::Timestamp;
use jiff::tz::TimeZone;

fn read_text(text: &str) -> Result<Config, Vec<String>> {
    let mut map = SourceMap::new();
    let file = map
        .add("site/firewall.toml", text.to_owned())
        .expect("is small");
    super::read(&map, file).map_err(|wrong| {
        let shown = |error: &diag::Diagnostic| {
            let at = map.line_col(error.primary.span).expect("has a place").1;
            format!(
                "{}:{} {} {}",
                at.line, at.column, error.code.0, error.message
            )
        };
        wrong.iter().map(shown).collect()
    })
}

#[test]
fn groups_have_sources_lists_and_times() {
    let config = read_text(
        "block = 'ads.txt'\n[[group]]\nname = 'pupils'\nsources = ['10.0.3.0/24', '2001:db8::1', '02:00:00:00:00:0A']\n\
         times = ['mon-fri 08:00-16:00', '22:00-06:00']\nblock = ['ads.txt', '/etc/games.txt']\nmode = 'count'\n",
    );
    let config = config.expect("is right");
    assert_eq!(config.block, [PathBuf::from("site/ads.txt")]);
    let group = &config.groups[0];
    let sources: Vec<String> = group.sources.iter().map(Source::to_string).collect();
    assert_eq!(
        sources,
        ["10.0.3.0/24", "2001:db8::1/128", "02:00:00:00:00:0a"]
    );
    let times: Vec<String> = group.times.iter().map(Span::to_string).collect();
    assert_eq!(times, ["mon-fri 08:00-16:00", "mon-sun 22:00-06:00"]);
    assert_eq!(
        group.block,
        ["site/ads.txt", "/etc/games.txt"].map(PathBuf::from)
    );
    assert!(group.is_counted_only);
}

#[test]
fn errors_have_their_place() {
    let group = |lines: &str| read_text(&format!("[[group]]\nname = 'a'\n{lines}")).unwrap_err();
    for source in [
        "10.0.3.1/24",
        "::/0",
        "10.0.3",
        "02:00:00:00:00",
        "02:00:00:00:00:1",
        "02:00:00:00:00:+1",
        "host",
    ] {
        assert_eq!(
            group(&format!("sources = ['{source}']")),
            [format!(
                "3:12 E1217 `{source}` is no address of IP or of the link layer, and no prefix"
            )]
        );
    }
    for time in [
        "8:00-16:00",
        "mon 08:00",
        "xyz 08:00-16:00",
        "24:00-25:00",
        "08:00-24:01",
        "+8:00-16:00",
    ] {
        assert_eq!(
            group(&format!("sources = []\ntimes = ['{time}']")),
            [format!("4:10 E1218 `{time}` is no time of the week")]
        );
    }
    assert_eq!(
        group("sources = ['10.0.0.1']\n[[group]]\nname = 'a'\nsources = ['10.0.0.1/32']"),
        [
            "5:8 E1219 there are two groups `a`",
            "6:12 E1219 `10.0.0.1/32` is a source twice"
        ]
    );
    let others = read_text("[[group]]\nname = 'others'\nsources = []").unwrap_err();
    assert_eq!(
        others,
        ["2:8 E1219 `others` means the sources that belong to no group"]
    );
    let many: String = (0..16)
        .map(|n| format!("[[group]]\nname = 'g{n}'\nsources = []\n"))
        .collect();
    assert_eq!(
        read_text(&many).unwrap_err(),
        ["47:8 E1219 a firewall has 15 groups at the most"]
    );
    assert_eq!(
        read_text("blok = 'a'\n[[group]]\nname = 'a'\nsources = []")
            .unwrap_err()
            .len(),
        1
    );
}

#[test]
fn windows_follow_the_clock_of_the_place() {
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("is a zone");
    let at = |text: &str| -> Timestamp { text.parse().expect("is a time") };
    let spans = |texts: &[&str]| -> Vec<Span> {
        texts
            .iter()
            .map(|text| text.parse().expect("is a span"))
            .collect()
    };
    // Saturday to Monday. The clock is set back on Sunday.
    let from = at("2026-10-24T09:00:00Z");
    assert_eq!(
        windows(&spans(&["08:00-16:00"]), from, 2, &zone),
        [
            (at("2026-10-24T06:00:00Z"), at("2026-10-24T14:00:00Z")),
            (at("2026-10-25T07:00:00Z"), at("2026-10-25T15:00:00Z")),
            (at("2026-10-26T07:00:00Z"), at("2026-10-26T15:00:00Z")),
        ]
    );
    // The evening before goes on, and what overlaps is one.
    assert_eq!(
        windows(
            &spans(&["fri 22:00-12:00", "sat 11:00-24:00", "wed-thu 00:00-24:00"]),
            from,
            1,
            &zone
        ),
        [(at("2026-10-23T20:00:00Z"), at("2026-10-24T22:00:00Z"))]
    );
    assert_eq!(windows(&spans(&["tue 08:00-09:00"]), from, 2, &zone), []);
}

#[test]
fn a_file_may_have_flags_and_no_groups() {
    let config = read_text(
        "dev = ['eth0', 'eth1']\nmode = 'reset'\nunknown = 'drop'\nquic = 'read'\naliases = true\nech = 'strip'\npage = '403'\nhook = 'xdp'\nblock = 'ads.txt'\n",
    );
    let config = config.expect("is right");
    assert!(config.groups.is_empty());
    let flag = |flag: &str| Some(flag.to_owned());
    let flags = Flags {
        dev: vec!["eth0".to_owned(), "eth1".to_owned()],
        mode: flag("reset"),
        unknown: flag("drop"),
        quic: flag("read"),
        aliases: true,
        ech: Some("strip".to_owned()),
        page: crate::page::Page::parse("403").ok(),
        hook: flag("xdp"),
    };
    assert_eq!(config.flags, flags);
    assert_eq!(
        read_text("dev = 'eth0'\nblock = 'ads.txt'\n")
            .expect("is right")
            .flags,
        Flags {
            dev: vec!["eth0".to_owned()],
            ..Flags::default()
        }
    );
    let wrong = read_text("mode = 'reject'\nquic = 'pass'\n").expect_err("are no such modes");
    assert_eq!(wrong.len(), 2, "{wrong:?}");
    assert!(
        wrong.iter().all(|error| error.contains("E1215")),
        "{wrong:?}"
    );
}
