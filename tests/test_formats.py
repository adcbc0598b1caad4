"""The formats: own cases from the RFCs, brute force over dates and times, the official suite, a second validator."""
import calendar
import ipaddress
import itertools
import json
import random
import re

import pytest

from llgcy.schema import format_tables, formats, make_formats
from llgcy.schema.automaton import Automaton
from llgcy.schema.formats import FORMATS

try:
    from re import _constants, _parser
except ImportError:         # Python 3.10
    import sre_constants as _constants
    import sre_parse as _parser

SPECIFIED = {"date", "time", "date-time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri",
             "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer", "relative-json-pointer", "regex"}


def matches(name, text):
    found = FORMATS[name]
    return ((found.max_length is None or len(text) <= found.max_length) and all(re.fullmatch(p, text) for p in found.patterns)
            and (found.local_octets is None or len(text.rpartition("@")[0].encode("utf-8", "surrogatepass")) <= found.local_octets))


def test_all_names_of_the_specification():
    assert set(FORMATS) == SPECIFIED


def test_tables_are_those_of_the_patterns():
    """``python -m llgcy.schema.make_formats`` writes them anew."""
    assert format_tables._tables() == make_formats.tables()
    assert format_tables.form("no-format") is None


def test_patterns_use_the_common_subset_only():
    part = r"\(\?:|\\[^A-Za-z0-9]|\[\^?(?:[^\\\[\]]|\\[^A-Za-z0-9])+\]|\{[0-9]+(?:,[0-9]*)?\}|[^\\\[\]{}^$.(]"
    for name, found in FORMATS.items():
        for pattern in found.patterns:
            assert re.fullmatch(f"(?:{part})*", pattern, re.S), name


# --- Cases by hand: the examples of the RFCs and the near misses -----------------------------------------------------

VALID = {
    "duration": "P1Y P1M P1D P1W PT1H PT1M PT1S P1Y2M P1Y2M3D P2M3D P1DT1S PT1H2M3S PT1M1S P0W P007D P1YT1H",
    "ipv4": "0.0.0.0 255.255.255.255 1.2.3.4 249.199.99.9",
    "ipv6": ":: ::1 1:: 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 1:2:3:4:5:6:1.2.3.4 ::1.2.3.4 1:2:3:4:5::1.2.3.4 ABCD:EF01::",
    "uuid": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6 F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6",
    "uri": "ftp://ftp.is.co.za/rfc/rfc1808.txt http://www.ietf.org/rfc/rfc2396.txt ldap://[2001:db8::7]/c=GB?objectClass?one "
           "mailto:John.Doe@example.com news:comp.infosystems.www.servers.unix tel:+1-816-555-1212 telnet://192.0.2.16:80/ "
           "urn:oasis:names:specification:docbook:dtd:xml:4.1.2 a: a:/ a:// a:?#? a://:@:/ a://[v1.:] a+-.9:b a:/b//c",
    "uri-reference": "g:h g ./g g/ /g //g ?y g?y #s g#s ;x . .. ../../g a/b:c //a:1 //@",
    "iri": "http://r\u00e9sum\u00e9.example.org http://example.com/\U00010300 a:?\ue000",
    "iri-reference": "\u00e9 \u00e9/:a #\u00e9 ?\uf8ff",
    "uri-template": "{var} {+path}/here {#x,hello,y} X{.var} {/list*} {;keys*} {?x,y} {&x:3} map?{x,y} O{undef}X '{var}' {%41.b_:9999} {|a} {,a} \u00e9\ue000 [] %41",
    "json-pointer": "/foo /foo/0 / /a~1b /c%d /e^f /g|h /i\\j /k\"l /m~0n //",
    "relative-json-pointer": "0 1/0 2/highly/nested/objects 0# 1# 10/~0~1",
    "email": "a@b jdoe@one.test !#$%&'*+-/=?^_`{|}~@x-y.z9 \"\"@a \"a@b\"@c \"\\\"\\\\\"@c a@[1.2.3.4] a@[IPv6:::] a@[IPv6:1:2:3:4:5:6::] "
             "a@[IPv6:1:2:3:4:5:6:7:8] a@[IPv6:1:2:3:4::1.2.3.4] a@[IPv6:1:2:3:4:5:6:1.2.3.4]",
    "idn-email": "\u7532\u6590@\u9ed1\u5ddd.\u65e5\u672c \u0434\u0436@x \"\u00e9\"@\u00e9\u00e8.\u03b1 a@[1.2.3.4] \U0001f600@a",
    "hostname": "a A9 3com a-b.c x xn x-n x--a xn-a.b 0.0.0.0",
    "idn-hostname": "a b\u00fccher.example \u4f8b\u3048.\u30c6\u30b9\u30c8 \u043f\u0440\u0438\u043c\u0435\u0440\u3002\u03b1\uff0e\uac00\uff61z \u30b5\u30fc\u30d0",
    "regex": "a a|b (a(b(c)*)+)? ^a$ [^a-z\\d-]{2,30}? \\u0041\\.\\/ (?=a)(?<!b)c [] [^] a{0,9} a{10} a{5,} a{2,10} [-a] [\\]] (?:) | . \\bx\\B",
}
INVALID = {
    "duration": "P PT 1Y P1 P1YD P1Y1D P1DT P1W1D PT1H1S P1H P-1D +P1D P1.5D p1d P1d P1Y2M3W P1S",
    "ipv4": "1.2.3 1.2.3.4.5 256.1.1.1 01.1.1.1 1.1.1.00 1.2.3. .1.2.3 1.2.3.+4 1.2.3.4/8",
    "ipv6": "1 : ::: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 1:2:3:4:5:6:7:8:: ::1:2:3:4:5:6:7:8 12345:: g:: 1:2:3:4:5:6:7:1.2.3.4 1.2.3.4:: "
            "1:2:3:4:5:6::1.2.3.4 ::1.2.3 ::01.2.3.4 ::1%eth0 [::] 1: :1",
    "uuid": "f81d4fae7dec11d0a76500a0c91e6bf6 {f81d4fae-7dec-11d0-a765-00a0c91e6bf6} f81d4fae-7dec-11d0-a765-00a0c91e6bf f81d4fae-7dec-11d0-a765-00a0c91e6bfg",
    "uri": "a : 1a:b //a /a ?a a_b: a:%zz a:% a:[ #a a:[x a://[1.2.3.4] a://[::1]x a://a@b@c a://a:b:c a:\u00e9 a:\\ a:^ a:{} a:\"x\" a:## a://[v.a] a://[v1.]",
    "uri-reference": "1:b : %41: a[ //a:b //[::1 \u00e9 % %4 ## a\\b",
    "iri": "\u00e9:a a:\ue000 a:#\ue000 a:\ufdd0 a:\uffff a:\u200e a:\u202e a:\U000e0001 a:\u009f",
    "iri-reference": ":\u00e9 \u200f \ue000 \ufff0",
    "uri-template": "{ } {} {a {a,} {,,a} {a:0} {a:10000} {a:1*} {a*:1} {a b} {-a} {a-b} {.} % %4 a\\b \"a\" <a> ^ ` | \ufdd0",
    "json-pointer": "a # /~ /~2 /a~ ~0 #/a",
    "relative-json-pointer": "/a -1 01 0a 1## 0#/ ~0 # 0/~2",
    "email": "a @a a@ a@b@c a.@b .a@b a..b@c a@-b a@b- a@.b a@b. a@b..c a@b_c a(b)@c \"@b \"a@b \"\"\"@b \"\\\"@b a@[1.2.3] a@[::1] a@[IPv6:1.2.3.4] "
             "a@[IPv6:1:2:3:4:5:6:7::] a@[IPv6:1:2:3:4:5::1.2.3.4] a@[256.1.1.1] a@[1.2.3.4 \u00e9@a a@\u00e9",
    "idn-email": "\u00e9 a@-\u00e9 a@\u00e9- a@\u0300a a@\u00e9..b \ud800@a \"\\\u00e9\"@a",
    "hostname": "-a a- a..b .a a. a_b \u00e9 a\uff0eb xn--a XN--a Xn--9n2bp8q ab--c a1--b",
    "idn-hostname": "-\u00e9 \u00e9- \u0300a a\u05d0 \u00b7 \u302e ab--c xn--x \u00c9 \u00e9..a .\u00e9 \u00e9\u3002 a\u200db \u00e9_ \u30a2\u3099",
    "regex": "( ) [ ] { } * a** a{2,1} a{,2} ^* (?=a)* (?P<a>b) (?i)a (?#a) \\a \\ \\1 [b-a] [\\d-x] \\p{L (?>a) a++ \\_ (?< ((((a))))",
}
FEW = {  # texts with spaces, line ends and no characters
    "date": (["2020-02-29"], ["", "2020-02-29\n", " 2020-02-29"]),
    "json-pointer": (["", "/ ", "/\n\x00"], [" /"]),
    "uri-template": ([""], [" "]),
    "uri-reference": ([""], [" ", "\n"]),
    "uri": ([], ["", "a: ", "a:\n"]),
    "email": (['" "@a', '"\\ "@a', "a" * 64 + "@b", "a@" + ".".join(["b" * 63] * 3) + "." + "c" * 60, "a@" + "b" * 63],
              ["", "a b@c", "a@b c", "a@b\n", "a" * 65 + "@b", '"' + "a" * 63 + '"@b', "a@" + ".".join(["b" * 63] * 3) + "." + "c" * 61, "a@" + "b" * 64]),
    "idn-email": (["a" * 64 + "@b", "\u00e9" * 32 + "@b", "\u4e00" * 21 + "@b", "\U0001f600" * 16 + "@b", "a@" + ".".join(["b" * 63] * 3) + ".\u4e00",
                   "a" * 40 + "\u4e00" * 8 + "@b", "a@" + "\u4e00" * 59, "a@\u00e9-\u00e8", "a@b-\u00e9.x--y", "a@e\u0301", "a@\u00e9\u00e8-x"],
                  ["a" * 65 + "@b", "\u00e9" * 33 + "@b", "\u4e00" * 22 + "@b", "\U0001f600" * 17 + "@b", "a@" + "\u4e00" * 64,
                   "a" * 41 + "\u4e00" * 8 + "@b", "a@" + "\u4e00" * 60, "a@\u00e9\u00e8--x", "a@\u2764", "a@\u00c9", "a@\ufb01", "a@\uff41", "a@\u0301e",
                   "a@\u00e9.-\u00e8", "a@x\u3002y", "a@\u200d\u00e9"]),
    "hostname": (["a" * 63, "x" + "a" * 62, "x-a" + "-" * 59 + "a", "xn" + "a" * 61, "xn-" + "a" * 60, "aa-" + "b" * 60, ".".join(["a" * 63] * 3 + ["b" * 61])],
                 ["", "a" * 64, "x" + "a" * 63, "x-a" + "-" * 60 + "a", "xn" + "a" * 62, "xn-" + "a" * 61, "aa-" + "b" * 61, ".".join(["a" * 63] * 3 + ["b" * 62]), "a\n"]),
    "idn-hostname": (["a" * 63, ".".join(["\u00e9" * 18] * 4)], ["", "a" * 64, ".".join(["a" * 63] * 4), ".".join(["\u00e9" * 18] * 5)]),
    "regex": (["", "a b", "\n"], []),
}


@pytest.mark.parametrize("name", sorted(SPECIFIED - {"date", "time", "date-time"}))
def test_cases(name):
    valid, invalid = FEW.get(name, ([], []))
    for text in VALID[name].split(" ") + valid:
        assert matches(name, text), text
    for text in INVALID[name].split(" ") + invalid:
        assert not matches(name, text), text


# --- Brute force ------------------------------------------------------------------------------------------------------


def test_dates_are_those_of_the_calendar():
    def right(year, month, day):
        return 1 <= month <= 12 and 1 <= day <= (calendar.monthrange(year, month)[1] if year else [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1])

    for year in range(10000):
        text = f"{year:04}-02-29"
        leap = calendar.isleap(year)
        assert bool(matches("date", text)) == leap, text
        assert bool(matches("date-time", text + "T00:00:00Z")) == leap, text
    for year, month, day in itertools.product((0, 1, 1900, 2000, 2023, 2024, 9999), range(20), range(40)):
        text = f"{year:04}-{month:02}-{day:02}"
        assert bool(matches("date", text)) == right(year, month, day), text
        assert bool(matches("date-time", text + "t23:59:59.0+23:59")) == right(year, month, day), text


def offset_texts():
    return ["Z", "z"] + [f"{sign}{hours:02}:{minutes:02}" for sign in "+-" for hours in range(24) for minutes in range(60)]


def offset_minutes(text):
    return 0 if text in "Zz" else int(text[0] + "1") * (int(text[1:3]) * 60 + int(text[4:]))


def test_leap_seconds_are_2359_utc_under_every_offset():
    for text in offset_texts():
        local = (23 * 60 + 59 + offset_minutes(text)) % 1440
        for shift in (0, 1, -1, 60, -60, 10, -10, 600, 61):
            hours, minutes = divmod((local + shift) % 1440, 60)
            for fraction in ("", ".25"):
                assert bool(matches("time", f"{hours:02}:{minutes:02}:60{fraction}{text}")) == (shift == 0)
            assert matches("time", f"{hours:02}:{minutes:02}:59{text}")


def test_leap_seconds_are_at_the_end_of_june_and_december():
    chosen = random.Random(1).sample(offset_texts(), 300) + ["Z", "+00:00", "-00:00", "+00:01", "-00:01", "+23:59", "-23:59"]
    for text in chosen:
        minutes = 23 * 60 + 59 + offset_minutes(text)
        ends, after = ("06-30", "12-31"), ("07-01", "01-01")
        for date in ends + after + ("05-31", "02-28", "06-29", "01-02"):
            expected = date in (after if minutes >= 1440 else ends)
            clock = f"{minutes % 1440 // 60:02}:{minutes % 60:02}"
            assert bool(matches("date-time", f"1998-{date}T{clock}:60{text}")) == expected, (date, clock, text)
            assert matches("date-time", f"1998-{date}T{clock}:00{text}")
            assert not matches("date-time", f"1998-{date}T{clock}:61{text}")


def test_times():
    for hours, minutes, seconds in itertools.product(range(30), (0, 9, 59, 60, 99), (0, 9, 59, 61, 99)):
        right = hours < 24 and minutes < 60 and seconds < 60
        clock = f"{hours:02}:{minutes:02}:{seconds:02}"
        for text in (clock + "Z", clock + ".5z", clock + "+00:00", clock + ".000-12:30"):
            assert bool(matches("time", text)) == right, text
            assert bool(matches("date-time", "2020-01-31T" + text)) == right, text
    for text in ("12:00:00", "12:00:00.Z", "12:00Z", "12:00:00+1:00", "12:00:00+24:00", "12:00:00+00:60", "12:00:00 Z", "1:00:00Z", "12:00:00Z\n", "12:00:00,5Z", "120000Z"):
        assert not matches("time", text), text
        assert not matches("date-time", "2020-01-31T" + text), text


def test_addresses_are_those_of_ipaddress():
    random_ = random.Random(7)

    def right(kind, text):
        try:
            kind(text)
        except ValueError:
            return False
        return "%" not in text

    seen = {True: 0, False: 0}
    for _ in range(20000):
        parts = [random_.choice(["0", "1", "12", "abc", "ffff", "A0", "12345", ""]) if random_.random() < 0.3 else "1" for _ in range(random_.randint(1, 9))]
        if random_.random() < 0.6:
            parts.insert(random_.randint(0, len(parts)), "")
        text = ":".join(parts)
        if random_.random() < 0.3:
            text += ":" * random_.randint(0, 1) + random_.choice(["1.2.3.4", "255.0.0.0", "256.0.0.0", "01.2.3.4", "1.2.3"])
        text = random_.choice(["", "", "", ":"]) + text + random_.choice(["", "", "", ":"])
        verdict = right(ipaddress.IPv6Address, text)
        seen[verdict] += 1
        assert bool(matches("ipv6", text)) == verdict, text
        assert bool(matches("uri", f"a://[{text}]")) == verdict, text
    assert min(seen.values()) > 2000
    for _ in range(5000):
        text = ".".join(str(random_.choice([0, 9, 10, 99, 100, 199, 200, 249, 250, 255, 256, 300, "00", "01"])) for _ in range(random_.choice([3, 4, 4, 4, 4, 5])))
        assert bool(matches("ipv4", text)) == right(ipaddress.IPv4Address, text), text


# --- Second opinions --------------------------------------------------------------------------------------------------

# Cases that the suite calls valid and a part of the language leaves out, by format.
LEFT_OUT = {
    "regex": {r"(?<name>x)": "names of groups must differ", r"(?<n>a)\k<n>": "back-references must have a group"},
    "hostname": {"ab--cd.example": "reserved by RFC 5890, the reading of draft 7 and later"},
    "idn-hostname": {
        "xn--ihqwcrb4cv8a8dqg056pqjye": "an A-label",
        "\u00df\u03c2\u0f0b\u3007": "several scripts", "\u06fd\u06fe": "right to left", "l\u00b7l": "contextual rule",
        "\u03b1\u0375\u03b2": "contextual rule", "\u05d0\u05f3\u05d1": "right to left", "\u05d0\u05f4\u05d1": "right to left",
        "\u30fb\u3041": "contextual rule", "\u30fb\u30a1": "contextual rule", "\u30fb\u4e08": "contextual rule",
        "\u0628\u0660\u0628": "right to left", "\u06f00": "right to left", "\u0915\u094d\u200d\u0937": "contextual rule",
        "\u0915\u094d\u200c\u0937": "contextual rule", "\u0628\u064a\u200c\u0628\u064a": "right to left",
    },
}


def test_official_suite(shared):
    cases = used = 0
    for path in sorted((shared / "json-schema-test-suite" / "tests").glob("*/optional/format/*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            name = group["schema"].get("format")
            if name not in FORMATS:
                continue
            for case in group["tests"]:
                text = case["data"]
                if not isinstance(text, str):
                    continue
                cases += 1
                verdict = bool(matches(name, text))
                if case["valid"] and not verdict:
                    a_label = name == "hostname" and any(label.startswith("xn--") for label in text.split("."))
                    long = name == "idn-hostname" and re.match("[\u0370-\u03ff]{19}", text)
                    assert a_label or long or text in LEFT_OUT.get(name, {}), (path.parts[-4], name, case["description"])
                    assert not FORMATS[name].exact
                    used += 1
                else:
                    assert verdict == case["valid"], (path.parts[-4], name, case["description"])
    assert cases > 2000 and used


def sampler(pattern, random_):
    """A function that makes texts of the pattern: random walks over Python's parse of it."""

    def characters(items):
        return [(value, value) if kind is _constants.LITERAL else value for kind, value in items]

    def walk(nodes):
        out = []
        for kind, value in nodes:
            if kind is _constants.LITERAL:
                out.append(chr(value))
            elif kind is _constants.NOT_LITERAL or kind is _constants.IN and value[0][0] is _constants.NEGATE:
                out_of = [(value, value)] if kind is _constants.NOT_LITERAL else characters(value[1:])
                while any(low <= (code := random_.randrange(1, 0x250)) <= high for low, high in out_of):
                    pass
                out.append(chr(code))
            elif kind is _constants.IN:
                low, high = random_.choice(characters(value))
                out.append(chr(random_.choice([low, high, random_.randint(low, high)])))
            elif kind is _constants.BRANCH:
                out.append(walk(random_.choice(value[1])))
            elif kind is _constants.SUBPATTERN:
                out.append(walk(value[3]))
            else:
                low, high, body = value
                out.extend(walk(body) for _ in range(random_.randint(low, min(int(high), low + random_.choice([0, 1, 3])))))
        return "".join(out)

    tree = _parser.parse(pattern)
    return lambda: walk(tree)


def mutated(text, random_):
    for _ in range(random_.choice([1, 1, 2])):
        at = random_.randint(0, len(text))
        character = random_.choice(text) if text and random_.random() < 0.6 else chr(random_.choice([random_.randrange(32, 127), random_.randrange(0x80, 0x3000)]))
        text = random_.choice([text[:at] + character + text[at:], text[:at] + text[at + 1:], text[:at] + character + text[at + 1:]])
    return text


def differs_by_reading(name, text, verdict):
    """The known differences to jsonschema-rs: what it accepts beyond us, or refuses."""
    if name == "email":
        # It refuses a quoted space, and domain labels by IDNA; it takes the IPv6 addresses of RFC 4291.
        return verdict and ("\\ " in text or re.search("[@.]..--", text)) or not verdict and "::" in text
    if name == "date-time":
        return not verdict and ":60" in text          # it asks for no month
    if name == "uri-template":
        return not verdict and re.search("[^\x20-\x7e]", text)  # it takes controls and unassigned characters
    if name in ("iri", "iri-reference"):
        return not verdict and re.search("[\u200e\u200f\u202a-\u202e]", text)
    return not verdict and not FORMATS[name].exact


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_jsonschema_rs_agrees(name):
    jsonschema_rs = pytest.importorskip("jsonschema_rs")
    validator = jsonschema_rs.validator_for({"$schema": "https://json-schema.org/draft/2020-12/schema", "format": name}, validate_formats=True)
    random_, accepted = random.Random(name), 0
    sample = sampler(FORMATS[name].patterns[0], random_)
    for _ in range(1500):
        text = sample()
        if random_.random() < 0.5:
            text = mutated(text, random_)
        if name.startswith("idn") and (len(text) > 60 or len(re.findall("[.\u3002\uff0e\uff61]", text)) > 3):
            continue        # Python's matcher backtracks over the labels
        verdict = bool(matches(name, text))
        accepted += verdict
        if verdict != validator.is_valid(text) and not differs_by_reading(name, text, verdict) and name != "idn-email":
            pytest.fail(f"{text!a}: {verdict}")
    assert accepted > 100


def test_idn_labels_are_idna_2008_and_short():
    idna = pytest.importorskip("idna")
    random_ = random.Random(5)
    for letters, most in formats._SCRIPTS:
        codes = [code for low, high in re.findall("(.)(?:-(.))?", letters) for code in range(ord(low), ord(high or low) + 1)]
        for code in codes:
            idna.alabel(chr(code))
        for _ in range(300):
            label = "".join(chr(random_.choice(codes)) if random_.random() < 0.9 else random_.choice("09az") for _ in range(random_.choice([1, most, most])))
            assert matches("idn-hostname", label) and len(idna.alabel(label)) <= 60


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_strings(name):
    """Which is taken for granted where schemas are compiled: the parts of a format are not searched for a string in common."""
    automaton = Automaton({"type": "string", "format": name})
    text = json.loads(automaton.value_ending(automaton.start))
    assert all(re.fullmatch(pattern, text) for pattern in FORMATS[name].patterns)
    assert FORMATS[name].max_length is None or len(text) <= FORMATS[name].max_length


def test_the_engine_counts_octets():
    a = Automaton({"format": "idn-email", "type": "string"})
    for text in ("a" * 64 + "@b", "a" * 65 + "@b", "a" * 40 + "\u4e00" * 8 + "@b", "a" * 41 + "\u4e00" * 8 + "@b", "\U0001f600" * 16 + "@\u4e00", "\u00e9" * 33 + "@b",
                 '"' + "@" * 62 + '"@b', '"' + "@" * 63 + '"@b'):
        assert a.formulas.holds_text(a.formulas.values[a.values[a.start][0]][2], text) == matches("idn-email", text) == (len(text.rpartition("@")[0].encode()) <= 64)


def test_code_points_of_idna():
    idna = pytest.importorskip("idna")
    from idna import idnadata

    from llgcy.schema import make_pvalid, pvalid
    expected = {c for r in idnadata.codepoint_classes["PVALID"] for c in range(r >> 32, r & 0xFFFFFFFF) if c >= 0x80}
    for name in ("PVALID", "STARTERS"):
        at, found = 0, set()
        numbers = [int(n, 16) for n in getattr(pvalid, name).split()]
        for gap, length in zip(numbers[::2], numbers[1::2]):
            found.update(range(at + gap, at + gap + length))
            at += gap + length
        assert found <= expected and len(found) > 120_000
    assert idna and make_pvalid.is_pvalid(0xDF) and not make_pvalid.is_pvalid(0xB7)
