"""Writes unicode_tables.py: the Unicode facts that regular expressions name.

    python -m llgcy.grammar.regex.make_unicode_tables

The facts (which code point has which property) are read off the matching of the `regex` package, all of one Unicode version, which
its documentation states; `regex` is needed here only, never at run time. The spelling of the names is that of
PropertyAliases.txt and PropertyValueAliases.txt of the Unicode Character Database, as far as ECMA-262 allows them.
"""
import base64
import pathlib
import textwrap
import zlib
from importlib import metadata

EVERYTHING = "".join(map(chr, range(0x110000)))

CATEGORIES = """Lu Uppercase_Letter|Ll Lowercase_Letter|Lt Titlecase_Letter|Lm Modifier_Letter|Lo Other_Letter|Mn Nonspacing_Mark|
Mc Spacing_Mark|Me Enclosing_Mark|Nd Decimal_Number digit|Nl Letter_Number|No Other_Number|Pc Connector_Punctuation|
Pd Dash_Punctuation|Ps Open_Punctuation|Pe Close_Punctuation|Pi Initial_Punctuation|Pf Final_Punctuation|Po Other_Punctuation|
Sm Math_Symbol|Sc Currency_Symbol|Sk Modifier_Symbol|So Other_Symbol|Zs Space_Separator|Zl Line_Separator|Zp Paragraph_Separator|
Cc Control cntrl|Cf Format|Cs Surrogate|Co Private_Use|Cn Unassigned"""

# Binary properties of ECMA-262 (table "Binary Unicode property aliases"), with their short names.
BINARY = """ASCII_Hex_Digit AHex|Alphabetic Alpha|Bidi_Control Bidi_C|Bidi_Mirrored Bidi_M|Case_Ignorable CI|Cased|Changes_When_Casefolded CWCF|
Changes_When_Casemapped CWCM|Changes_When_Lowercased CWL|Changes_When_Titlecased CWT|Changes_When_Uppercased CWU|Dash|
Default_Ignorable_Code_Point DI|Deprecated Dep|Diacritic Dia|Emoji|Emoji_Component EComp|Emoji_Modifier EMod|Emoji_Modifier_Base EBase|
Emoji_Presentation EPres|Extended_Pictographic ExtPict|Extender Ext|Grapheme_Base Gr_Base|Grapheme_Extend Gr_Ext|Hex_Digit Hex|
IDS_Binary_Operator IDSB|IDS_Trinary_Operator IDST|ID_Continue IDC|ID_Start IDS|Ideographic Ideo|Join_Control Join_C|
Logical_Order_Exception LOE|Lowercase Lower|Math|Noncharacter_Code_Point NChar|Pattern_Syntax Pat_Syn|Pattern_White_Space Pat_WS|
Quotation_Mark QMark|Radical|Regional_Indicator RI|Sentence_Terminal STerm|Soft_Dotted SD|Terminal_Punctuation Term|
Unified_Ideograph UIdeo|Uppercase Upper|Variation_Selector VS|White_Space space|XID_Continue XIDC|XID_Start XIDS"""

# Script names of more than one word; all others are one capitalised word.
SCRIPTS = """Anatolian_Hieroglyphs Bassa_Vah Beria_Erfe Canadian_Aboriginal Caucasian_Albanian Cypro_Minoan Dives_Akuru
Egyptian_Hieroglyphs Gunjala_Gondi Gurung_Khema Hanifi_Rohingya Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian
Kayah_Li Khitan_Small_Script Kirat_Rai Linear_A Linear_B Masaram_Gondi Meetei_Mayek Mende_Kikakui Meroitic_Cursive
Meroitic_Hieroglyphs Nag_Mundari New_Tai_Lue Nyiakeng_Puachue_Hmong Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian
Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Pahawh_Hmong Pau_Cin_Hau Phags_Pa Proto_Cuneiform
Psalter_Pahlavi SignWriting Sora_Sompeng Syloti_Nagri Tai_Le Tai_Tham Tai_Viet Tai_Yo Tolong_Siki Tulu_Tigalari Warang_Citi
Zanabazar_Square"""


def ranges(positions):
    """Ascending code points as pairs (first, last)."""
    out = []
    for c in positions:
        if out and out[-1][1] + 1 == c:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def varints(numbers):
    out = bytearray()
    for n in numbers:
        while n > 127:
            out.append(n & 127 | 128)
            n >>= 7
        out.append(n)
    return out


def encoded(sets):
    """For each set the number of its ranges, then the distances between the ends, as varints; compressed; as text."""
    numbers = []
    for pairs in sets:
        numbers.append(len(pairs))
        at = 0
        for first, last in pairs:
            numbers += [first - at, last - first]
            at = last
    return base64.b85encode(zlib.compress(bytes(varints(numbers)), 9)).decode()


def members(regex, pattern):
    return ranges(m.start() for m in regex.finditer(pattern, EVERYTHING))


def case_classes(regex):
    """The sets of two and more characters that simple case folding (statuses C and S of CaseFolding.txt) makes equal.

    The package adds the Turkic pairs of status T, which belong to no default folding; they are taken out.
    """
    turkic = {"\u0130", "\u0131"}
    cased = [c for c in regex.findall(r"[\p{CWCM}\p{CWCF}]", EVERYTHING) if c not in turkic]
    text, classes, done = "".join(cased), [], set()
    for c in cased:
        if c not in done:
            found = sorted(set(regex.findall(regex.escape(c), text, regex.IGNORECASE)) | {c})
            done.update(found)
            if len(found) > 1:
                classes.append([ord(x) for x in found])
    return classes


def main():
    import regex
    from regex import _regex_core

    version = next(line.split("Unicode ")[1].split()[0].rstrip(".") for line in metadata.metadata("regex")["Description"].splitlines()
                   if line.startswith("This module supports Unicode"))
    spelling = {name.replace("_", "").upper(): name for name in SCRIPTS.split()}
    by_value = {}
    for name, value in _regex_core.PROPERTIES["SCRIPT"][1].items():
        by_value.setdefault(value, []).append(spelling.get(name, name.capitalize()))
    names = {"category": [row.split() for row in CATEGORIES.replace("\n", "").split("|")],
             "binary": [row.split() for row in BINARY.replace("\n", "").split("|")],
             "script": [sorted(row, key=lambda name: (-len(name), name)) for row in by_value.values()]}
    names["script"] = [row for row in names["script"] if row[0] != "Katakana_Or_Hiragana" and "Hrkt" not in row]
    sets = [members(regex, r"\p{gc=%s}" % row[0]) for row in names["category"]]
    sets += [members(regex, r"\p{%s}" % row[0]) for row in names["binary"]]
    sets += [members(regex, r"\p{sc=%s}" % row[0].replace("_", "")) for row in names["script"]]
    sets += [members(regex, r"\p{scx=%s}" % row[0].replace("_", "")) for row in names["script"]]
    sets.append(members(regex, r"\P{nt=None}"))
    classes = [[(c, c) for c in row] for row in case_classes(regex)]
    lines = ['"""Unicode properties and case folding. Generated by make_unicode_tables.py, which says how; do not edit."""',
             f'UNICODE_VERSION = "{version}"', "", "# Names of each set, in the order of DATA: categories, binary properties, scripts;",
             "# then come the script extensions in the order of the scripts, and the characters with a numeric value.", ""]
    for kind, rows in names.items():
        text = " | ".join(" ".join(row) for row in rows)
        lines += [f'{kind.upper()} = """', *textwrap.wrap(text, 134, break_on_hyphens=False), '"""', ""]
    for name, value in (("DATA", encoded(sets)), ("CASES", encoded(classes))):
        lines.append(f"{name} = (")
        lines += ["    " + repr(value[i:i + 124]) for i in range(0, len(value), 124)]
        lines += [")", ""]
    pathlib.Path(__file__).with_name("unicode_tables.py").write_text("\n".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
