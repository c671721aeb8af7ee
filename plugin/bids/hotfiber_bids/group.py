"""The table of all scans: numbers that tell quality, outliers among them, and the scans that failed."""
import os
import statistics
import urllib.parse

from . import derivatives, page

# |robust z| from which a value is marked, and from how many scans on (Iglewicz and Hoaglin 1993).
MARKED, FEWEST = 3.5, 5
# Scans worth a look that are listed; further ones open on demand.
LISTED = 12
LEFT_OUT = 200
# Pictures of a page, and how many numbers of two scans must be equal for them to be taken for one.
PICTURES, SAME = 60, 4
# name, heading, description, digits, the smallest spread that counts (relative to the median, and absolute)
MEASURES = [
    ("snr", "SNR", "Signal-to-noise ratio of one b=0 volume", 1, .01, 0.),
    ("voxels", "Voxels", "Voxels in the mask", 0, .01, 0.),
    ("share_0", "0 fibres", "Share of the voxels without a fibre, %", 1, 0., .5),
    ("share_1", "1 fibre", "Share of the voxels with one fibre, %", 1, 0., .5),
    ("share_2", "2 fibres", "Share of the voxels with two fibres, %", 1, 0., .5),
    ("share_3", "3 fibres", "Share of the voxels with three fibres, %", 1, 0., .5),
    ("residual", "Residual", "Residual of the fits, as a multiple of the noise of the b=0 volumes (method signal)",
     3, .01, 0.),
]
COLUMNS = (["scan", "subject", "session", "status"] + [measure[0] for measure in MEASURES] +
           ["gradients", "flagged", "warnings", "outliers", "seconds", "page", "message"])
STYLE = """\
.scroll{overflow-x:auto;margin:0 -22px;padding:0 22px}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:6px 10px;border-top:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--soft);border-top:0;vertical-align:bottom}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--card)}
td.words,th.words{text-align:left}tbody tr:hover td{background:var(--bg)}
.out{color:var(--warn);font-weight:650;background:var(--warnbg)}.odd{color:var(--warn);font-weight:600}
.fine{color:var(--good)}.none{color:var(--soft)}
.bar{display:flex;width:150px;height:14px;border-radius:5px;overflow:hidden}
.bar i{display:block}
.s0{background:var(--s0)}.s1{background:var(--s1)}.s2{background:var(--s2)}.s3{background:var(--s3)}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;font-size:.88rem;margin:.2em 0 1em;padding:0;list-style:none}
.key{display:inline-block;width:.75em;height:.75em;border-radius:3px;margin-right:.4em}
ul.why{margin:0;padding:0;list-style:none}ul.why li{padding:8px 0;border-top:1px solid var(--line)}
ul.why li:first-child{border-top:0}ul.why a{font-weight:650}ul.why span{display:block;overflow-wrap:anywhere}
ul.brief{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(360px,100%),1fr));gap:0 30px}
ul.brief li,ul.brief li:first-child{border:0;padding:4px 0}
ul.brief span{display:inline;margin-left:.7em;color:var(--soft);font-size:.92rem}
.thumbs{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:14px}
.thumbs img{width:100%;height:150px;object-fit:cover;object-position:top;background:#000;border-radius:6px}
.thumbs img{display:block}
.thumbs span{display:block;font-size:.84rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
details{margin-top:.6em}summary{cursor:pointer;color:var(--accent)}
.strips{display:grid;grid-template-columns:repeat(auto-fill,minmax(260px,1fr));gap:14px 30px}
.strips figure{margin:0}.strips svg{width:100%;height:auto;display:block;overflow:visible}
.strips figcaption{font-size:.88rem;display:flex;justify-content:space-between;gap:10px}
.strips figcaption span{color:var(--soft)}
svg text{font-size:10.5px;fill:var(--soft);font-family:inherit}.axis{stroke:var(--line)}
.middle{stroke:var(--soft);stroke-dasharray:3 3}.dot{fill:var(--s1);fill-opacity:.55}
.dot.marked{fill:var(--warn);fill-opacity:1;stroke:var(--card)}
"""


def number(value):
    """The value, or None if it is not a number."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 else None


def _dictionary(value):
    return value if isinstance(value, dict) else {}


def row_of(scan, status, report):
    """One line of the table, a dictionary with the names of COLUMNS."""
    row = dict.fromkeys(COLUMNS)
    row.update(scan=scan.name, subject=scan.subject, session=scan.session, status=status["status"],
               message=status.get("message"), outliers=[], warnings=[], seconds=number(status.get("seconds")),
               page=scan.name + ".html")
    if status["status"] != "done":
        return row
    counts, settings = _dictionary(report.get("counts")), _dictionary(report.get("settings"))
    fibers, voxels = _dictionary(counts.get("fibers")), number(counts.get("voxels"))
    row["voxels"], row["flagged"] = voxels, number(counts.get("flagged"))
    row["snr"] = number(_dictionary(report.get("noise")).get("snr"))
    for index, name in enumerate(("none", "one", "two", "three")):
        if voxels and number(fibers.get(name)) is not None:
            row[f"share_{index}"] = 100 * fibers[name] / voxels
    row["residual"] = number(_dictionary(settings.get("population")).get("noise"))
    gradients = _dictionary(report.get("gradients"))
    row["gradients"] = str(gradients["verdict"]) if gradients.get("verdict") is not None else None
    if gradients.get("verdict") == "wrong":
        row["gradients"] = f"wrong: {gradients.get('likeliest')}"
    elif gradients.get("verdict") == "possible":
        row["gradients"] = f"possible, as is {gradients.get('alike')}"
    log = report.get("log") if isinstance(report.get("log"), list) else []
    row["warnings"] = [str(entry.get("text")) for entry in log
                       if isinstance(entry, dict) and entry.get("level") == "warning"]
    row["warnings"] += status.get("remarks") or []
    return row


def mark(rows):
    """Adds to each row the measures in which it is an outlier, by robust z-scores; {measure: {scan: z}}."""
    scores = {}
    for name, _, _, _, relative, absolute in MEASURES:
        values = [(row, row[name]) for row in rows if row[name] is not None]
        if len(values) < FEWEST:
            continue
        middle = statistics.median(value for _, value in values)
        away = [abs(value - middle) for _, value in values]
        spread = 1.4826 * statistics.median(away) or 1.2533 * statistics.fmean(away)
        spread = max(spread, relative * abs(middle), absolute)
        scores[name] = {row["scan"]: (value - middle) / spread if spread else 0. for row, value in values}
        for row, _ in values:
            if abs(scores[name][row["scan"]]) > MARKED:
                row["outliers"].append(name)
    return scores


def find_copies(rows):
    """Adds to each row the earlier scan whose numbers it has, all of them and to the last digit; None = none has."""
    first = {}
    for row in rows:
        numbers = tuple(row[measure[0]] for measure in MEASURES)
        known = len([value for value in numbers if value is not None]) >= SAME
        row["copy_of"] = first.get(numbers) if known else None
        if known:
            first.setdefault(numbers, row["scan"])


def _cell(value, digits):
    return "n/a" if value is None else f"{value:.{digits}f}"


def table(rows):
    """The rows as tab-separated values; missing values are n/a."""
    digits = {measure[0]: measure[3] for measure in MEASURES}
    lines = ["\t".join(COLUMNS)]
    for row in rows:
        cells = []
        for name in COLUMNS:
            value = row[name]
            if name in digits:
                cells.append(_cell(value, digits[name]))
            elif name in ("outliers", "warnings"):
                cells.append((",".join(value) or "none") if name == "outliers" else str(len(value)))
            else:
                cells.append("n/a" if value is None else " ".join(str(value).split()))
        lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


def _strip(measure, rows, scores):
    """One measure of all scans on a line; the pages open from its dots."""
    name, heading, description, digits = measure[:4]
    values = [(row, row[name]) for row in rows if row[name] is not None]
    low, high = min(value for _, value in values), max(value for _, value in values)
    middle = statistics.median(value for _, value in values)
    place = lambda value: 10 + 240 * ((value - low) / (high - low) if high > low else .5)
    dots = "".join(
        f'<a href="{page.text(row["page"])}"><circle class="dot{" marked" if name in row["outliers"] else ""}" '
        f'cx="{place(value):.1f}" cy="{18 if name in row["outliers"] else 18 + 5 * (index % 3 - 1)}" r="4.5"><title>'
        f'{page.text(row["scan"])}: {value:,.{digits}f}</title></circle></a>'
        for index, (row, value) in enumerate(sorted(values, key=lambda pair: bool(name in pair[0]["outliers"]))))
    marked = sum(name in row["outliers"] for row, _ in values)
    about = f"{heading}: from {low:,.{digits}f} to {high:,.{digits}f}, median {middle:,.{digits}f}"
    return (f'<figure><figcaption><b title="{page.text(description)}">{heading}</b><span>median {middle:,.{digits}f}'
            f'{f", {marked} marked" if marked else ""}</span></figcaption>'
            f'<svg viewBox="0 0 260 46" role="img" aria-label="{about}"><line class="axis" x1="10" x2="250" y1="18" '
            f'y2="18"/><line class="middle" x1="{place(middle):.1f}" x2="{place(middle):.1f}" y1="4" y2="32"/>{dots}'
            f'<text x="10" y="44">{low:,.{digits}f}</text><text x="250" y="44" text-anchor="end">{high:,.{digits}f}'
            '</text></svg></figure>')


def _table_html(rows, scores):
    heads = "".join(f'<th title="{page.text(measure[2])}">{measure[1]}</th>' for measure in MEASURES)
    lines = []
    for row in rows:
        cells = [f'<td><a href="{page.text(row["page"])}">{page.text(row["scan"])}</a></td>']
        shares = [row[f"share_{index}"] for index in range(4)]
        cells.append("<td>" + ('<span class="bar" role="img" aria-label="shares of 0 to 3 fibres">' + "".join(
            f'<i class="s{index}" style="width:{share:.2f}%"></i>' for index, share in enumerate(shares) if share) +
            "</span>" if any(shares) else "") + "</td>")
        for name, _, _, digits, _, _ in MEASURES:
            value, score = row[name], scores.get(name, {}).get(row["scan"])
            shown = '<span class="none">–</span>' if value is None else f"{value:,.{digits}f}"
            marked = name in row["outliers"]
            cells.append(f'<td{" class=out" if marked else ""}' +
                         (f' title="robust z {score:+.1f}"' if score is not None else "") + f">{shown}</td>")
        verdict = row["gradients"] or "not checked"
        kind = "fine" if verdict == "likeliest" else "odd" if verdict.startswith("wrong") else "none"
        cells.append(f'<td class="words"><span class="{kind}">{page.text(verdict)}</span></td>')
        said = row["warnings"]
        cells.append(f'<td{" class=odd" if said else ""} title="{page.text("; ".join(said))}">{len(said)}</td>')
        cells.append(f'<td>{_cell(row["seconds"], 0) if row["seconds"] is not None else "–"}</td>')
        lines.append("<tr>" + "".join(cells) + "</tr>\n")
    return ('<div class="scroll"><table><thead><tr><th>Scan</th><th class="words">Fibres</th>' + heads +
            '<th class="words">Gradients</th><th>Warnings</th><th>Seconds</th></tr></thead>\n<tbody>\n' +
            "".join(lines) + "</tbody></table></div>")


def _pictures(rows):
    """The fibres of all scans, to be looked through; the pages open from them."""
    shown = [row for row in rows if row.get("picture")]
    if not shown:
        return ""
    return ('<section id="pictures"><h2>Pictures</h2><div class="thumbs">' + "".join(
        f'<a href="{page.text(row["page"])}"><img loading="lazy" src="{page.text(row["picture"])}" '
        f'alt="fibres of {page.text(row["scan"])}"><span>{page.text(row["scan"])}</span></a>\n'
        for row in shown[:PICTURES]) + "</div>" +
        (f"<p>and {len(shown) - PICTURES:,} more</p>" if len(shown) > PICTURES else "") + "</section>\n")


def document(name, rows, scores, without, left_out, version):
    """The page, as text."""
    done = [row for row in rows if row["status"] == "done"]
    failed = [row for row in rows if row["status"] != "done"]
    marked = [row for row in done if row["outliers"]]
    wrong = [row for row in done if str(row["gradients"]).startswith("wrong")]
    snr = [row["snr"] for row in done if row["snr"] is not None]
    cards = [(f"{len(done)} of {len(rows)}", "scans done"), (len(failed), "failed or not done"),
             (len(marked), "with a value far from the others"), (len(wrong), "with a doubtful gradient table"),
             (f"{statistics.median(snr):.1f}" if snr else "–", "median SNR")]
    body = (f'<header><h1>{page.text(name)}</h1><p class="soft">{len(rows)} scans of '
            f'{len({row["subject"] for row in rows})} subjects. The numbers are also in '
            '<a href="group_dwi.tsv">group_dwi.tsv</a>.</p></header>\n<main>\n<ul class="cards">' +
            "".join(f"<li><b>{value}</b><span>{label}</span></li>" for value, label in cards) + "</ul>\n")
    if failed:
        body += ('<section class="failed" id="failed"><h2>Failed</h2><ul class="why">' + "".join(
            f'<li><a href="{page.text(row["page"])}">{page.text(row["scan"])}</a>'
            f'<span>{page.text(row["message"])}</span></li>\n' for row in failed) + "</ul></section>\n")
    if without:
        body += ('<section id="without"><h2>No diffusion images</h2><p>' +
                 ", ".join(f"sub-{page.text(subject)}" for subject in without) + "</p></section>\n")
    if left_out:
        body += ('<section id="left_out"><h2>Left out</h2><ul class="why">' + "".join(
            f"<li>{page.text(lacks.path)}<span>{page.text(lacks.why)}</span></li>\n" for lacks in left_out[:LEFT_OUT]) +
            "</ul>" + (f"<p>and {len(left_out) - LEFT_OUT:,} more</p>" if len(left_out) > LEFT_OUT else "") +
            "</section>\n")
    copies = [row for row in done if row.get("copy_of")]
    if copies:
        body += ('<section id="copies"><h2>The same data twice</h2><ul class="why brief">' + "".join(
            f'<li><a href="{page.text(row["page"])}">{page.text(row["scan"])}</a><span>every number is that of '
            f'{page.text(row["copy_of"])}: is it a copy of the same file?</span></li>\n' for row in copies) +
            "</ul></section>\n")
    if marked or wrong:
        words = {measure[0]: measure[1] for measure in MEASURES}
        lines = []
        for row in done:
            notes = [f'{words[measure]} {row[measure]:,.{digits}f} (robust z '
                     f'{scores[measure][row["scan"]]:+.1f})' for measure, _, _, digits, _, _ in MEASURES
                     if measure in row["outliers"]]
            notes += [f"gradient table: {row['gradients']}"] if row in wrong else []
            if notes:
                most = max([abs(scores[measure][row["scan"]]) for measure in row["outliers"]], default=1e300)
                lines.append((-most, f'<li><a href="{page.text(row["page"])}">{page.text(row["scan"])}</a>'
                              f'<span>{page.text("; ".join(notes))}</span></li>\n'))
        lines = [line for _, line in sorted(lines)] # the farthest first
        body += ('<section id="look"><h2>Worth a look</h2><ul class="why brief">' + "".join(lines[:LISTED]) + "</ul>" +
                 (f'<details><summary>{len(lines) - LISTED} more</summary><ul class="why brief">'
                  f'{"".join(lines[LISTED:])}</ul></details>' if len(lines) > LISTED else "") + "</section>\n")
    shown = [measure for measure in MEASURES if any(row[measure[0]] is not None for row in done)]
    if len(done) > 1 and shown:
        body += ('<section id="spread"><h2>Spread</h2><p class="soft">A dot is a scan and opens its page; the dashed '
                 f"line is the median. Marked: more than {MARKED} robust standard deviations (1.4826 times the median "
                 f"absolute deviation) from the median, among at least {FEWEST} scans.</p><div class=\"strips\">" +
                 "".join(_strip(measure, done, scores) for measure in shown) + "</div></section>\n")
    body += _pictures(done)
    if done:
        body += ('<section id="scans"><h2>Scans</h2><ul class="legend">' + "".join(
            f'<li><span class="key s{index}"></span>{label}</li>' for index, label in
            enumerate(("no fibre", "one fibre", "two fibres", "three fibres"))) + "</ul>" +
            _table_html(done, scores) + "</section>\n")
    return page.whole(f"{name}: diffusion scans", body + "</main>\n", version, STYLE)


def make(jobs, without, left_out, out, version):
    """Writes group_dwi.html and group_dwi.tsv; returns the rows."""
    rows = []
    for job in jobs:
        scan = job.scan
        status = derivatives.read_json(job.status_path)
        if not isinstance(status, dict) or "status" not in status:
            failure = _dictionary(derivatives.read_json(job.failure))
            message = (f"{failure['stage']}: {failure['message']}" if "message" in failure else
                       scan.problem or "not done yet")
            status = job.describe({"stage": failure.get("stage", "none"), "exit": failure.get("exit", "none"),
                                   "message": message})
            page.write_failed(os.path.join(out, scan.name + ".html"), status, version)
        sidecar = os.path.join(scan.folder(out), scan.name + "_model-hot_dwimap.json")
        sidecar = _dictionary(derivatives.read_json(sidecar))
        report = _dictionary(sidecar.get("HotfiberReport"))
        if status["status"] == "done" and not report:
            status = {**status, "status": "failed", "message": "its maps are not where they were left; do it again"}
        rows.append(row_of(scan, status, report))
        picture = os.path.join(scan.figures(out), f"{scan.name}_fibers.png")
        if status["status"] == "done" and os.path.exists(picture):
            rows[-1]["picture"] = urllib.parse.quote(os.path.relpath(picture, out).replace(os.sep, "/"),
                                                     errors="surrogateescape")
    find_copies([row for row in rows if row["status"] == "done"])
    scores = mark([row for row in rows if row["status"] == "done"])
    description = _dictionary(derivatives.read_json(os.path.join(out, "dataset_description.json")))
    name = description.get("Name") or os.path.basename(os.path.abspath(out))
    derivatives.write_text(os.path.join(out, "group_dwi.tsv"), table(rows))
    text = document(name, rows, scores, without, left_out, version)
    derivatives.write_text(os.path.join(out, "group_dwi.html"), text)
    return rows
