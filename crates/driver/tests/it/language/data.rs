//! Strict reader of `tests/language.toml`.

use toml::{Table, Value};

/// A chapter of the specification.
#[derive(Debug)]
pub(crate) struct Chapter {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
}

/// A section of a chapter.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) constructs: Vec<Construct>,
}

/// A construct of the language, with the programs that show it.
#[derive(Debug)]
pub(crate) struct Construct {
    /// The construct, as Markdown.
    pub(crate) what: String,
    /// Texts of which each of its tests has at least one.
    pub(crate) text: Vec<String>,
    /// Programs of `language/accept`.
    pub(crate) accepted: Vec<String>,
    /// Programs with STF tests, by their path below `tests`.
    pub(crate) runs: Vec<String>,
    /// Codes that refuse the construct itself, with a program of `language/refuse` for each.
    pub(crate) refused: Vec<(String, String)>,
    /// Programs of `language/limits`.
    pub(crate) limits: Vec<String>,
    /// First version of Onpath that supports it.
    pub(crate) since: Version,
}

impl Construct {
    /// Returns true if a program that is accepted or run has it.
    pub(crate) fn is_shown(&self) -> bool {
        !self.accepted.is_empty() || !self.runs.is_empty()
    }
}

/// A version of Onpath: three numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Version(pub(crate) [u32; 3]);

impl Version {
    /// Returns the version of this source.
    fn present() -> Version {
        Version::read(env!("CARGO_PKG_VERSION")).expect("three numbers")
    }

    fn read(text: &str) -> Result<Version, String> {
        let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
        let three = numbers.ok().and_then(|numbers| numbers.try_into().ok());
        three
            .map(Version)
            .ok_or(format!("`{text}` is no version, such as `0.1.0`"))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Version([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Reads the chapters of a file, or returns the first error in it.
pub(crate) fn read(text: &str) -> Result<Vec<Chapter>, String> {
    let table: Table = text.parse().map_err(|e| format!("{e}"))?;
    let mut top = Fields::of("the file", table);
    let since = top.version("since", None)?;
    let chapters = top.tables("chapter")?;
    top.nothing_else()?;
    chapters
        .into_iter()
        .map(|table| chapter(table, since))
        .collect()
}

fn chapter(table: Table, since: Version) -> Result<Chapter, String> {
    let mut fields = Fields::of("a chapter", table);
    let title = fields.title("title")?;
    let sections = fields.tables("section")?;
    fields.nothing_else()?;
    let sections = sections.into_iter().map(|table| section(table, since));
    let sections = sections.collect::<Result<Vec<_>, _>>()?;
    if sections.is_empty() {
        return Err(format!("{title}: no sections"));
    }
    Ok(Chapter { title, sections })
}

fn section(table: Table, since: Version) -> Result<Section, String> {
    let mut fields = Fields::of("a section", table);
    let title = fields.title("title")?;
    let constructs = fields.tables("constructs")?;
    fields.nothing_else()?;
    let constructs = constructs.into_iter().map(|table| construct(table, since));
    let constructs = constructs.collect::<Result<Vec<_>, _>>()?;
    if constructs.is_empty() {
        return Err(format!("{title}: no constructs"));
    }
    for (i, construct) in constructs.iter().enumerate() {
        if constructs[..i]
            .iter()
            .any(|other| other.what == construct.what)
        {
            return Err(format!("{title}: `{}` twice", construct.what));
        }
    }
    Ok(Section { title, constructs })
}

fn construct(table: Table, since: Version) -> Result<Construct, String> {
    let mut fields = Fields::of("a construct", table);
    let what = fields.title("what")?;
    let text = fields.texts("text")?;
    let accepted = fields.texts("accepted")?;
    let runs = fields.texts("runs")?;
    let refused = fields.texts("refused")?;
    let limits = fields.texts("limits")?;
    let since = fields.version("since", Some(since))?;
    fields.nothing_else()?;
    let shown = !accepted.is_empty() || !runs.is_empty();
    if text.is_empty() == shown {
        return Err(format!("{what}: `text` belongs to `accepted` and `runs`"));
    }
    if !shown && refused.is_empty() && limits.is_empty() {
        return Err(format!("{what}: no test"));
    }
    if since > Version::present() {
        return Err(format!("{what}: there is no Onpath {since} yet"));
    }
    let refused = refused.into_iter().map(|text| {
        let words = text.split_once(' ');
        words
            .map(|(code, name)| (code.to_owned(), name.to_owned()))
            .ok_or(format!("{what}: `{text}` is no code with a program"))
    });
    Ok(Construct {
        refused: refused.collect::<Result<_, _>>()?,
        what,
        text,
        accepted,
        runs,
        limits,
        since,
    })
}

/// Fields of a table that are still unread.
struct Fields {
    of: String,
    table: Table,
}

impl Fields {
    fn of(what: &str, table: Table) -> Fields {
        Fields {
            of: what.to_owned(),
            table,
        }
    }

    /// Reads the text that names this table. Later messages use it.
    fn title(&mut self, key: &str) -> Result<String, String> {
        match self.table.remove(key) {
            Some(Value::String(text)) if !text.is_empty() => {
                self.of.clone_from(&text);
                Ok(text)
            }
            _ => Err(format!("{}: `{key}` must be a text", self.of)),
        }
    }

    fn texts(&mut self, key: &str) -> Result<Vec<String>, String> {
        let wrong = || format!("{}: `{key}` must be an array of texts", self.of);
        let all = match self.table.remove(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(all)) if !all.is_empty() => all,
            Some(_) => return Err(wrong()),
        };
        let texts = all.into_iter().map(|value| match value {
            Value::String(text) if !text.is_empty() => Ok(text),
            _ => Err(wrong()),
        });
        texts.collect()
    }

    fn tables(&mut self, key: &str) -> Result<Vec<Table>, String> {
        let wrong = || format!("{}: `{key}` must be tables", self.of);
        let Some(Value::Array(all)) = self.table.remove(key) else {
            return Err(wrong());
        };
        let tables = all.into_iter().map(|value| match value {
            Value::Table(table) => Ok(table),
            _ => Err(wrong()),
        });
        tables.collect()
    }

    fn version(&mut self, key: &str, default: Option<Version>) -> Result<Version, String> {
        match (self.table.remove(key), default) {
            (Some(Value::String(text)), _) => Version::read(&text),
            (None, Some(default)) => Ok(default),
            _ => Err(format!("{}: `{key}` must be a version", self.of)),
        }
    }

    fn nothing_else(self) -> Result<(), String> {
        match self.table.keys().next() {
            None => Ok(()),
            Some(key) => Err(format!("{}: `{key}` has no meaning", self.of)),
        }
    }
}

#[test]
fn a_file_with_anything_wrong_is_refused() {
    let file = |construct: &str| {
        format!(
            "since = \"0.1.0\"\n[[chapter]]\ntitle = \"A\"\n[[chapter.section]]\ntitle = \"B\"\nconstructs = [{construct}]\n"
        )
    };
    let right = "{ what = \"x\", text = [\"y\"], accepted = [\"z\"] }";
    assert!(read(&file(right)).is_ok());
    for (construct, wrong) in [
        ("", "B: no constructs"),
        ("{ what = \"x\" }", "x: no test"),
        ("{ text = [\"y\"] }", "a construct: `what` must be a text"),
        ("{ what = \"x\", accepted = [\"z\"] }", "x: `text` belongs"),
        (
            "{ what = \"x\", refused = [\"E0332\"] }",
            "is no code with a program",
        ),
        (
            "{ what = \"x\", limits = [] }",
            "`limits` must be an array of texts",
        ),
        (
            "{ what = \"x\", limits = [\"y\"], since = \"9.0.0\" }",
            "no Onpath 9.0.0",
        ),
        (
            "{ what = \"x\", limits = [\"y\"], sinse = \"0.1.0\" }",
            "`sinse` has no meaning",
        ),
        (&format!("{right}, {right}"), "B: `x` twice"),
    ] {
        let why = read(&file(construct)).expect_err(construct);
        assert!(why.contains(wrong), "{construct}: {why}");
    }
}
