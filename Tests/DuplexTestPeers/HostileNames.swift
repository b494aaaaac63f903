// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import Foundation

/// Names and paths by which a client may try to leave a folder, to reach what isn't for it, or to upset who reads them.
///
/// What they name is in a ``HostileFolder``. Those that would write outside call it `duplex-escape`.
package enum HostileNames {
    /// As text, for JSON, metadata and calls.
    ///
    /// Some of them are harmless names that are odd.
    package static let texts: [String] = parents + links + reserved + odd + characters + long

    /// Whether everything is to be tried, as `DUPLEX_HOSTILE` asks for.
    ///
    /// In the suite a share of it is.
    package static let triesAll = ProcessInfo.processInfo.environment["DUPLEX_HOSTILE"] != nil

    /// Those of the cases that one of so many has to try.
    package static func share<Case>(_ number: Int, of parts: Int, _ cases: [Case]) -> [Case] {
        triesAll ? cases : cases.enumerated().filter { $0.offset % parts == number % parts }.map(\.element)
    }

    /// As they stand in a URL behind the folder's: texts in several encodings, and what is no text at all.
    package static let targets: [String] =
        texts.map(encoded) + parents.map(encodedWhole) + parents.map { encoded(encodedWhole($0)) } + raw

    // MARK: Texts

    /// Out by parents.
    private static let parents: [String] = {
        let ends = ["canary.txt", "out/secret.txt", "out", "duplex-escape"]
        let ways = [
            "..", "../..", "../../../../../../../..", "folder/..", "folder/../..", "./..", "folder/./../..", "...",
            "...",
        ]
        let paths = Set(ways).sorted().flatMap { way in ends.map { "\(way)/\($0)" } }
        return paths + [
            "..", "../", "../../", ".", "./", "./.", "/..", "//..", "/../", "folder/..", "folder/../", "..folder/..",
            "../etc/passwd", "../../../../../../../../etc/passwd", "/etc/passwd", "//etc/passwd", "///etc/passwd",
            "folder//../../canary.txt", "folder/inner.txt/../../../canary.txt", "none/../../canary.txt",
            "link-folder/../../canary.txt", "out-folder/../canary.txt", "/tmp/duplex-escape", "//duplex-escape",
            "..\\canary.txt", "..\\..\\canary.txt", "folder\\..\\..\\canary.txt", "..\\/canary.txt", "../\\canary.txt",
            "\\..\\canary.txt", "..%2fcanary.txt", "..%5ccanary.txt", "%2e%2e/canary.txt", "%2e%2e%2fcanary.txt",
            "..%00/canary.txt", "..%c0%afcanary.txt", "....//canary.txt", "....\\\\canary.txt", ".. /canary.txt",
            " ../canary.txt", ".. /.. /canary.txt", "..\u{200B}/canary.txt", "..;/canary.txt", "..;a=b/canary.txt",
            ".\u{AD}./canary.txt", "\u{FF0E}\u{FF0E}/canary.txt", "\u{2025}/canary.txt", "\u{2024}\u{2024}/canary.txt",
            "..\u{2215}canary.txt", "..\u{FF0F}canary.txt", "..\u{2044}canary.txt", "..\u{FF3C}canary.txt",
            "..\u{338}/canary.txt", "..\u{0}/canary.txt", "..\t/canary.txt", "..\n/canary.txt",
        ]
    }()

    /// By what lies in the folder: links, pipes, devices.
    private static let links: [String] = [
        "link-file", "link-folder", "link-folder/inner.txt", "out-file", "out-folder", "out-folder/",
        "out-folder/secret.txt",
        "out-folder/duplex-escape", "out-folder/sub/deep.txt", "absolute-file", "absolute-folder",
        "absolute-folder/secret.txt", "absolute-folder/duplex-escape", "etc", "etc/passwd", "top", "top/etc/passwd",
        "top/tmp/duplex-escape", "process", "process/etc/passwd", "process/tmp/duplex-escape", "descriptors",
        "descriptors/0", "descriptors/1", "descriptors/3", "environment", "dangling", "dangling-out", "dangling-out/x",
        "loop", "loop/x", "loop-a", "loop-b/x", "up", "up/canary.txt", "up/out/secret.txt", "up/duplex-escape", "self",
        "self/self/self/file.txt", "self/up/canary.txt", "chain", "chain/secret.txt", "round", "round/canary.txt",
        "pipe", "socket", "device", "pipe/x", "socket/x", "device/x", "file.txt/", "file.txt/x", "file.txt/..",
        "hard", "folder/link-up/canary.txt", "folder/link-up/duplex-escape",
    ]

    /// What belongs to the server, or to the system.
    private static let reserved: [String] = [
        ".duplex", ".duplex/", ".duplex/temporary", ".duplex/trash", ".duplex/webdav/locks", ".duplex/duplex-escape",
        ".DUPLEX", ".Duplex/trash", ".dUpLeX/x", ".duplex.", ".duplex ", ".duplex::$INDEX_ALLOCATION", ".duplex-1/x",
        ".du\u{AD}plex", ".du\u{200B}plex/trash", "\u{200D}.duplex", ".duplex\u{200D}", ".duplex\u{301}",
        "\u{FEFF}.duplex", ".duple\u{FF58}", "\u{FF0E}duplex", "folder/.duplex", "folder/.duplex/x", "DUPLEX~1",
        "duplex~1/trash",
        ".duplex/../.duplex/trash", ".env", ".git/config", ".ssh/authorized_keys", ".htaccess", "folder/.hidden",
        "CON", "con.txt", "PRN", "AUX", "NUL", "nul.tar.gz", "COM1", "COM\u{B9}", "LPT1", "CONIN$", "CLOCK$", "$MFT",
        "C:", "C:/", "C:\\Windows\\win.ini", "c:canary.txt", "C:/duplex-escape", "\\\\host\\share\\x", "//host/share/x",
        "\\\\?\\C:\\x", "\\\\.\\PhysicalDrive0", "file.txt::$DATA", "file.txt:stream", "file.txt.", "file.txt ",
        "file.txt...", "FILE.TXT", "file:///etc/passwd", "http://example.org/x", "/proc/self/root/etc/passwd",
        "/proc/self/environ", "proc/self/root", "/dev/zero", "/dev/stdin", "/dev/fd/0", "/sys/kernel", "web.config",
    ]

    /// What is a name, though it doesn't look like one.
    private static let odd: [String] = [
        "-rf", "--help", "-", "~", "~root", "~/x", "$HOME", "$(id)", "`id`", ";id", "|id", "&id", "a&b", "a'b", "a\"b",
        "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "]]>", "<!--", "&lt;", "&#x2e;&#x2e;", "%", "%%",
        "%2", "%zz", "%u002e%u002e", "%252e%252e%252f", "a%00b", "a?b", "a?../../canary.txt", "a#b", "#", "?", "*",
        "a;v=1", ";params", "a,b", "a=b", "a+b", "a:b", "a|b", "{a}", "[a]", "^", "!", "@", "a b", " a", "a ", "  ",
        " ",
        "a.", "a..", "...", "....", ". ", " .", "\u{A0}", "\u{3000}", "\u{2003}", "0", "null", "undefined", "true",
        "__proto__", "constructor", "toString", "hasOwnProperty", "index.html", "a//b", "a/./b", "a/", "//", "/", "",
        "\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{FB01}", "\u{1E9E}", "\u{130}", "\u{131}",
        "\u{AC00}",
        "\u{1100}\u{1161}", "日本語", "👩‍👩‍👧", "ａ", "Ａ",
    ]

    /// Characters that are not seen, or end, turn or break the text around them; alone, in the middle, at the end.
    private static let characters: [String] = {
        let values: [UInt32] =
            Array(0...0x1F) + [0x7F, 0x80, 0x85, 0x9F, 0xAD, 0x34F, 0x61C, 0x115F, 0x180E, 0x3164]
            + Array(0x200B...0x200F) + Array(0x2028...0x202E) + Array(0x2060...0x2069) + [
                0xFEFF, 0xFFF9, 0xFFFD, 0xFFFE, 0xFFFF,
            ]
            + [0xE000, 0xE0001, 0xE0041, 0x1FFFE, 0x10FFFF, 0xFE00, 0xFE0F]
        return values.compactMap(Unicode.Scalar.init).flatMap { scalar in
            ["a\(String(scalar))b.txt", "a\(String(scalar))"]
        } + ["invoice\u{202E}fdp.exe", "a\r\nSet-Cookie: a=b", "a\r\n\r\n<html>", "a\nb", "\u{1B}[31mred\u{1B}[0m"]
    }()

    private static let long: [String] = [
        String(repeating: "n", count: 255), String(repeating: "n", count: 256), String(repeating: "n", count: 5_000),
        String(repeating: "é", count: 127) + "x", String(repeating: "é", count: 128),
        String(repeating: "n", count: 251) + ".txt", "folder/" + String(repeating: "n", count: 256),
        String(repeating: "a/", count: 99) + "a", String(repeating: "a/", count: 101) + "a",
        String(repeating: "a/", count: 2_048) + "a", String(repeating: "../", count: 1_400) + "canary.txt",
        String(repeating: "./", count: 2_048) + "file.txt", String(repeating: "self/", count: 39) + "up/canary.txt",
        String(repeating: "self/", count: 60) + "file.txt",
        String(repeating: "folder/../", count: 410) + "../canary.txt",
        Array(repeating: String(repeating: "n", count: 255), count: 16).joined(separator: "/"),
        Array(repeating: String(repeating: "n", count: 255), count: 17).joined(separator: "/"),
        String(repeating: ".", count: 255), String(repeating: "%", count: 255),
        "a" + String(repeating: "\u{301}", count: 127),
    ]

    // MARK: In URLs

    /// Each byte that isn't unreserved as `%` and two digits; slashes and dots as they are.
    package static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte < 0x80 && (Unicode.Scalar(byte).properties.isAlphabetic || (0x30...0x39).contains(byte))
            return isPlain || "/.-_~".utf8.contains(byte) ? String(Unicode.Scalar(byte)) : digits(byte)
        }.joined()
    }

    /// Every byte but letters, dots and slashes among them.
    private static func encodedWhole(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte < 0x80 && Unicode.Scalar(byte).properties.isAlphabetic
            return isPlain ? String(Unicode.Scalar(byte)) : digits(byte)
        }.joined()
    }

    private static func digits(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return "%" + (byte < 16 ? "0" : "") + text
    }

    /// What is no text, or no URL.
    private static let raw: [String] = [
        // Overlong forms of `.`, `/` and `\` in two to six bytes, and of NUL.
        "%c0%ae%c0%ae/canary.txt", "%c0%ae%c0%ae%c0%afcanary.txt", "..%c0%afcanary.txt", "..%e0%80%afcanary.txt",
        "..%f0%80%80%afcanary.txt", "..%f8%80%80%80%afcanary.txt", "..%fc%80%80%80%80%afcanary.txt",
        "%e0%80%ae%e0%80%ae/canary.txt", "%f0%80%80%ae%f0%80%80%ae/canary.txt", "..%c1%9ccanary.txt",
        "..%c1%afcanary.txt",
        "..%c0%2fcanary.txt", "..%c0%9vcanary.txt", "file.txt%c0%80", "..%c1%1ccanary.txt", "..%bg%qfcanary.txt",
        // Bytes that are no UTF-8: alone, cut, surrogates, beyond the last one.
        "%ff", "%fe%ff", "%80", "%bf", "%c3", "%e2%82", "%f0%9f%98", "%ed%a0%80", "%ed%bf%bf", "%f4%90%80%80", "%c3%28",
        "a%ffb/x", "not-text-%ff", "folder/%ff", "%ff/../../canary.txt",
        // Encodings in encodings, and such as others have.
        "%252e%252e/canary.txt", "%252e%252e%252fcanary.txt", "%25252e%25252e%25252fcanary.txt", "..%255ccanary.txt",
        "%u002e%u002e%u002fcanary.txt", "%%32%65%%32%65%%32%66canary.txt", "..%u2216canary.txt", "..%u2215canary.txt",
        "%2e./canary.txt", ".%2e/canary.txt", "%2E%2e/canary.txt", "..%2Fcanary.txt", "..%5Ccanary.txt",
        "%5c..%5ccanary.txt",
        "file.txt%00", "file.txt%00.jpg", "%00", "%00../canary.txt", "folder%00/../../canary.txt", "%0a",
        "%0d%0aX-A:%20b",
        "file.txt%0d%0aSet-Cookie:%20a=b", "%", "%2", "%2g", "%g2", "%-1", "%+1", "a%", "folder%2finner.txt", "%2f",
        "%2F%2F",
        "folder/%2e%2e/%2e%2e/canary.txt", "folder%2f..%2f..%2fcanary.txt", "%2fetc%2fpasswd", "%2f%2fhost%2fshare",
        // Not encoded where it has to be, with what means something in a URL.
        "a b", "a\tb", "a\"b", "a<b>", "a\\b", "..\\canary.txt", "a^b", "a`b", "a{b}", "a|b", "ä", "a\u{202E}b",
        "a\u{7F}b",
        "?../../canary.txt", "file.txt?x=/../../canary.txt", "#/../canary.txt", "file.txt#a", ";/../canary.txt",
        "..;/canary.txt", ";a=b", "folder;a=b/inner.txt", "file.txt;.css", "@host/x", ":80/x", "//host/x", "///",
        "http://host/x",
        "a\r\nX-A: b", "a\nb", "a\u{0}b", "*", "/./../canary.txt", "/.//../canary.txt", "folder/./././../../canary.txt",
    ]
}
