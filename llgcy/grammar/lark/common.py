"""The terminals of ``%import common.NAME``: what they mean in the dialect, which is Lark's meaning but for one note.

Each is an expression of the dialect and may use the others. DIGIT and the letters are ASCII.
"""

COMMON = {
    "DIGIT": '"0".."9"',
    "HEXDIGIT": "/[0-9a-fA-F]/",
    "INT": "DIGIT+",
    "SIGNED_INT": "/[+-]?/ INT",
    "DECIMAL": 'INT "." INT? | "." INT',
    "_EXP": '"e"i SIGNED_INT',
    "FLOAT": "DECIMAL _EXP? | INT _EXP",
    "SIGNED_FLOAT": "/[+-]?/ FLOAT",
    "NUMBER": "FLOAT | INT",
    "SIGNED_NUMBER": "/[+-]?/ NUMBER",
    # A backslash takes the next character with it, but not a newline. (Lark itself refuses every raw newline.)
    "ESCAPED_STRING": r'"\"" /([^"\\]|\\[^\n])*/ "\""',
    "LCASE_LETTER": '"a".."z"',
    "UCASE_LETTER": '"A".."Z"',
    "LETTER": "LCASE_LETTER | UCASE_LETTER",
    "WORD": "LETTER+",
    "CNAME": '("_" | LETTER) ("_" | LETTER | DIGIT)*',
    "WS_INLINE": r"/[ \t]+/",
    "WS": r"/[ \t\f\r\n]+/",
    "CR": r'"\r"',
    "LF": r'"\n"',
    "NEWLINE": "(CR? LF)+",
    "SH_COMMENT": r"/#[^\n]*/",
    "CPP_COMMENT": r"/\/\/[^\n]*/",
    # Ends at the first */.
    "C_COMMENT": r"/\/\*[^*]*\*+([^\/*][^*]*\*+)*\//",
    "SQL_COMMENT": r"/--[^\n]*/",
}
