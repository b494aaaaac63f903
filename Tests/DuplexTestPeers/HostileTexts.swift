// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// Texts that run, or turn what is around them, where somebody takes them for markup, a script, SQL, a formula, or orders to a
/// terminal.
package enum HostileTexts {
    package static let all = markup + scripts + sql + terminals

    private static let markup = [
        "<script>alert(1)</script>", "<ScRiPt>alert(1)</sCrIpT>", "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<svg><script>alert(1)</script></svg>", "<iframe src=javascript:alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'>",
        "<body onload=alert(1)>", "<details open ontoggle=alert(1)>", "<video><source onerror=alert(1)>",
        "<math><mi xlink:href='javascript:alert(1)'>", "<input autofocus onfocus=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "\"><script>alert(1)</script>", "' onmouseover='alert(1)", "</title><script>alert(1)</script>",
        "</textarea><script>alert(1)</script>", "--><script>alert(1)</script>", "]]><script>alert(1)</script>",
        "<!--<img src='--><img src=x onerror=alert(1)>", "<base href='//example.org/'>",
        "<meta http-equiv=refresh content=0>",
        "<link rel=stylesheet href=//example.org/x>", "<style>*{display:none}</style>",
        "<form action=//example.org/><input>",
        "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;img src=x onerror=alert(1)&#62;",
        "<template><script>alert(1)</script>",
    ]

    private static let scripts = [
        "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "${alert(1)}",
        "{{constructor.constructor('alert(1)')()}}",
        "`;alert(1);`", "';alert(1);//", "\\u003cscript\\u003ealert(1)", "__proto__", "constructor", "toString",
        "\u{2028}alert(1)",
    ]

    private static let sql = [
        "' OR 1=1 --", "'; DROP TABLE people; --", "\"; DROP TABLE people; --", "1; ATTACH 'x' AS y",
        "') UNION SELECT sql FROM sqlite_master --",
        "%' ESCAPE 'x", "[people]", "?1", ":name", "/* */", "=cmd|' /C calc'!A0", "@SUM(1+1)",
    ]

    private static let terminals = [
        "\u{1B}[31mred\u{1B}[0m", "\u{1B}]0;title\u{7}", "\u{1B}]52;c;eA==\u{7}", "\u{9B}31m", "a\rb", "a\u{8}b",
        "\u{202E}fdp.exe",
        "\u{2066}x\u{2069}", "a\u{200B}b", "\u{FEFF}x", "line\nfeed", "tab\tx",
    ]
}
