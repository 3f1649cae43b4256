//! Results of tests as JUnit's XML, which build servers read: a suite for each program, and a case for each test.

use std::fmt::Write;
use std::time::Duration;

/// Result of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Came {
    /// The test passed.
    Passed,
    /// The test failed, for these reasons.
    Failed(String),
    /// The test was not run, because it or its program is refused.
    Refused(String),
    /// The test is not for this target.
    Skipped(&'static str),
}

/// A test that has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ran {
    /// Its program.
    pub(super) program: String,
    /// Its script, with the direction if that is not ingress.
    pub(super) name: String,
    /// Its result.
    pub(super) came: Came,
    /// Time that it ran.
    pub(super) took: Duration,
}

/// Returns the document of all results. The results of a program must be adjacent.
pub(super) fn document(all: &[Ran]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(xml, "<testsuites name=\"onpath\"{}>", figures(all));
    for suite in all.chunk_by(|a, b| a.program == b.program) {
        let name = escaped(&suite[0].program);
        let _ = writeln!(xml, "  <testsuite name=\"{name}\"{}>", figures(suite));
        for ran in suite {
            case(&mut xml, ran);
        }
        xml += "  </testsuite>\n";
    }
    xml += "</testsuites>\n";
    xml
}

fn figures(all: &[Ran]) -> String {
    let count = |want: fn(&Came) -> bool| all.iter().filter(|ran| want(&ran.came)).count();
    let time: Duration = all.iter().map(|ran| ran.took).sum();
    format!(
        " tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
        all.len(),
        count(|came| matches!(came, Came::Failed(_))),
        count(|came| matches!(came, Came::Refused(_))),
        count(|came| matches!(came, Came::Skipped(_))),
        time.as_secs_f64(),
    )
}

fn case(xml: &mut String, ran: &Ran) {
    let begin = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(&ran.program),
        escaped(&ran.name),
        ran.took.as_secs_f64(),
    );
    let inside = match &ran.came {
        Came::Passed => {
            let _ = writeln!(xml, "{begin}/>");
            return;
        }
        Came::Failed(text) => element("failure", text),
        Came::Refused(text) => element("error", text),
        Came::Skipped(why) => format!("<skipped message=\"{}\"/>", escaped(why)),
    };
    let _ = writeln!(xml, "{begin}>\n      {inside}\n    </testcase>");
}

fn element(name: &str, text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    format!(
        "<{name} message=\"{}\">{}</{name}>",
        escaped(first),
        escaped(text)
    )
}

/// Escapes a text for XML. Invisible characters are shown as in all other output.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in diag::shown_lines(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_have_their_figures_and_text_cannot_break_out() {
        let ran = |program: &str, came| Ran {
            program: program.into(),
            name: "a \"b\".stf".into(),
            came,
            took: Duration::from_millis(1500),
        };
        let all = [
            ran("x.p4", Came::Passed),
            ran("x.p4", Came::Failed("got <1> & \u{7}\nmore".into())),
            ran("y.p4", Came::Skipped("why")),
            ran("y.p4", Came::Refused("no".into())),
        ];
        assert_eq!(
            document(&all),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"onpath\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"6.000\">\n\
             \x20 <testsuite name=\"x.p4\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"3.000\">\n\
             \x20   <testcase classname=\"x.p4\" name=\"a &quot;b&quot;.stf\" time=\"1.500\"/>\n\
             \x20   <testcase classname=\"x.p4\" name=\"a &quot;b&quot;.stf\" time=\"1.500\">\n\
             \x20     <failure message=\"got &lt;1&gt; &amp; \\u0007\">got &lt;1&gt; &amp; \\u0007\nmore</failure>\n\
             \x20   </testcase>\n\
             \x20 </testsuite>\n\
             \x20 <testsuite name=\"y.p4\" tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"1\" time=\"3.000\">\n\
             \x20   <testcase classname=\"y.p4\" name=\"a &quot;b&quot;.stf\" time=\"1.500\">\n\
             \x20     <skipped message=\"why\"/>\n\
             \x20   </testcase>\n\
             \x20   <testcase classname=\"y.p4\" name=\"a &quot;b&quot;.stf\" time=\"1.500\">\n\
             \x20     <error message=\"no\">no</error>\n\
             \x20   </testcase>\n\
             \x20 </testsuite>\n\
             </testsuites>\n"
        );
    }
}
