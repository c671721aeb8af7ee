"""HTML: what pages share, and the page of a scan that failed."""
import html

from .files import write_text

STYLE = """\
:root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--ink:#1c2330;--soft:#5d6779;--line:#dfe3ea;--accent:#2463c4;
--good:#1d7f4e;--warn:#9a5b00;--warnbg:#fff4dd;--bad:#b3261e;--badbg:#fdecea;
--s0:#8e99ab;--s1:#2f74d0;--s2:#d98a1f;--s3:#c73e2b}
@media(prefers-color-scheme:dark){:root{--bg:#12151b;--card:#1b2029;--ink:#e6e9ef;--soft:#9aa5b8;--line:#2d3542;
--accent:#7fb0ff;--good:#5fd39a;--warn:#ffc766;--warnbg:#33280f;--bad:#ff8f85;--badbg:#38191a;
--s0:#667085;--s1:#6aa8f7;--s2:#f0b054;--s3:#f07a67}}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,
'Helvetica Neue',Arial,sans-serif}
body::before{content:'';display:block;height:5px;background:linear-gradient(90deg,#d33,#d93 20%,#2a4 45%,#1aa 65%,#24d)}
header,main,footer{max-width:1320px;margin:0 auto;padding:0 20px}
header{padding-top:26px}h1{font-size:1.75rem;line-height:1.2;margin:0 0 .25em;overflow-wrap:anywhere}
h2{font-size:1.22rem;margin:0 0 .7em}p{margin:.5em 0}.soft,footer{color:var(--soft)}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:20px 22px;margin:18px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:18px 0;padding:0;
list-style:none}
.cards li{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:13px 16px;display:flex;
flex-direction:column}
.cards b{font-size:1.3rem;line-height:1.25;font-weight:650;font-variant-numeric:tabular-nums}
.cards span{color:var(--soft);font-size:.86rem}
.failed{background:var(--badbg);border-color:var(--bad)}.failed h2{color:var(--bad)}
pre{background:var(--bg);border:1px solid var(--line);border-radius:8px;padding:12px 14px;overflow-x:auto;
font-size:.84rem;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:0}dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
footer{padding-bottom:34px;font-size:.86rem}
@media(max-width:760px){section{padding:16px 14px}header,main,footer{padding-left:12px;padding-right:12px}
h1{font-size:1.4rem}}
@media print{body{background:#fff;color:#000}section{break-inside:avoid;border-color:#ccc}}
"""


def text(value):
    """Escaped, without control characters."""
    plain = "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in str(value))
    return html.escape(plain, quote=True)


def whole(title, body, version, style=""):
    """A page that needs nothing else."""
    return ("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            f"<title>{text(title)}</title>\n<style>\n{STYLE}{style}</style></head>\n<body>\n{body}"
            f"<footer><p>hotfiber {text(version)}</p></footer>\n</body>\n</html>\n")


def write_failed(path, status, version):
    """The page of a scan that could not be done: why, of what, and what hotfiber said."""
    rows = [("Scan", status["image"]), ("Gradients", ", ".join(status["gradients"]) or "none"),
            ("Mask", status["mask"] or "none found; it would be estimated"),
            ("Stage", status["stage"]), ("Exit status", status["exit"]), ("When", status["ended"])]
    rows += [("Remark", remark) for remark in status["remarks"]]
    body = (f"<header><h1>{text(status['scan'])}</h1><p class=\"soft\">This scan could not be done. "
            "<a href=\"group_dwi.html\">All scans</a></p></header>\n<main>\n"
            f"<section class=\"failed\"><h2>Why</h2><p>{text(status['message'])}</p></section>\n"
            "<section><h2>What it was</h2><dl>" +
            "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in rows) + "</dl></section>\n")
    if status["log"]:
        body += ("<section><h2>What was called, and what it said</h2><pre>" +
                 text("\n".join(status["log"])) + "</pre></section>\n")
    body += ("<section><h2>What next</h2><p>Once the cause is removed, the same command does this scan, and no other, "
             "again.</p></section>\n</main>\n")
    write_text(path, whole(f"{status['scan']}: failed", body, version))
