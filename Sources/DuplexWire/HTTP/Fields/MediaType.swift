// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

/// A media type, such as `text/html; charset=utf-8` (RFC 9110 section 8.3.1).
///
/// It holds the text as it is sent; a text that is no media type has neither type nor parameters.
///
/// ```swift
/// return Response(type: .html, body: "<p>Hello</p>")
/// return Response(type: "application/vnd.example+json", body: json)
/// ```
public struct MediaType: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The most parameters that are read; a type with more has none.
    package static let parameterBound = 16

    /// The text as it is sent.
    public let rawValue: String

    /// Makes a media type of a text as it is sent.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a media type of a text as it is sent.
    public init(stringLiteral text: String) {
        rawValue = text
    }

    /// The text.
    public var description: String { rawValue }

    /// Type and subtype in lower case, without parameters, such as `text/html`; nil if the text is no media type.
    public var essence: String? {
        var scanner = FieldScanner(rawValue)
        return Self.essence(&scanner)
    }

    /// The parameters in their order; empty if there are none, or if the text is no media type.
    public var parameters: [(name: String, value: String)] {
        fieldParameters.map { ($0.name, $0.value) }
    }

    /// The parameters as other fields have them.
    var fieldParameters: [FieldParameter] {
        var scanner = FieldScanner(rawValue)
        guard Self.essence(&scanner) != nil, let parameters = scanner.parameters(atMost: Self.parameterBound),
            scanner.isAtEnd
        else { return [] }
        return parameters
    }

    /// The value of the first parameter of that name; the name is in lower case.
    public subscript(parameter name: String) -> String? {
        fieldParameters.first { $0.name == name }?.value
    }

    /// The charset in lower case; nil where none is named.
    public var charset: String? {
        self[parameter: "charset"].map(Grammar.lowercased)
    }

    /// Whether this is the same type but for parameters and the case of letters; `*` in the other stands for any.
    ///
    /// - Parameter other: A type, such as `application/json`, or a range, such as `text/*`.
    /// - Returns: Whether it is.
    public func matches(_ other: MediaType) -> Bool {
        guard let own = essence, let range = other.essence else { return false }
        if own == range || range == "*/*" { return true }
        return range.hasSuffix("/*") && own.hasPrefix(range.dropLast())
    }

    /// Whether it is JSON: `application/json`, or another type in its syntax, such as `application/problem+json`
    /// (RFC 6839 section 3.1).
    package var isJSON: Bool {
        guard let essence else { return false }
        return essence == "application/json" || essence.hasSuffix("+json")
    }

    static func essence(_ scanner: inout FieldScanner) -> String? {
        scanner.skipBlanks()
        guard let type = scanner.token(), scanner.skip("/"), let subtype = scanner.token() else { return nil }
        scanner.skipBlanks()
        guard scanner.isAtEnd || scanner.isAt(";") || scanner.isAt(",") else { return nil }
        return Grammar.lowercased("\(type)/\(subtype)")
    }

    // MARK: Known types

    /// `text/plain` in UTF-8.
    public static let plainText = Self(rawValue: "text/plain; charset=utf-8")
    /// `text/html` in UTF-8.
    public static let html = Self(rawValue: "text/html; charset=utf-8")
    /// `text/css` in UTF-8.
    public static let css = Self(rawValue: "text/css; charset=utf-8")
    /// `text/csv` in UTF-8.
    public static let csv = Self(rawValue: "text/csv; charset=utf-8")
    /// `text/javascript` in UTF-8.
    public static let javaScript = Self(rawValue: "text/javascript; charset=utf-8")
    /// `text/event-stream`, which is always UTF-8.
    public static let eventStream = Self(rawValue: "text/event-stream")
    /// `application/json`, which is always UTF-8.
    public static let json = Self(rawValue: "application/json")
    /// `application/problem+json` (RFC 9457).
    public static let problemJSON = Self(rawValue: "application/problem+json")
    /// `application/xml`.
    public static let xml = Self(rawValue: "application/xml")
    /// Bytes of which nothing is known.
    public static let octetStream = Self(rawValue: "application/octet-stream")
    /// Names and values of a form, as in a query.
    public static let urlEncodedForm = Self(rawValue: "application/x-www-form-urlencoded")
    /// `image/svg+xml`.
    public static let svg = Self(rawValue: "image/svg+xml")

    // MARK: The types of files

    /// The type of a file of that name; bytes of any kind where the end of the name isn't known.
    ///
    /// Text is taken for UTF-8.
    ///
    /// - Parameter name: the name, or a path; upper and lower case are the same.
    /// - Returns: the type.
    public static func ofFile(named name: String) -> MediaType {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else { return .octetStream }
        return types[Grammar.lowercased(String(name[name.index(after: dot)...]))] ?? .octetStream
    }

    /// Those of IANA's registry, and what browsers take where it has none.
    private static let types: [String: MediaType] = [
        // Text.
        "html": .html, "htm": .html, "xhtml": "application/xhtml+xml; charset=utf-8", "css": .css, "js": .javaScript,
        "mjs": .javaScript, "csv": .csv, "txt": .plainText, "text": .plainText, "log": .plainText,
        "md": "text/markdown; charset=utf-8", "ics": "text/calendar; charset=utf-8", "vtt": "text/vtt; charset=utf-8",
        "vcf": "text/vcard; charset=utf-8", "json": .json, "map": .json, "jsonld": "application/ld+json",
        "geojson": "application/geo+json", "xml": .xml, "xsl": .xml, "rss": "application/rss+xml",
        "atom": "application/atom+xml", "webmanifest": "application/manifest+json", "yaml": "application/yaml",
        "yml": "application/yaml", "toml": "application/toml", "sql": "application/sql", "rtf": "application/rtf",
        // Pictures.
        "svg": .svg, "png": "image/png", "apng": "image/apng", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "jxl": "image/jxl",
        "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "ico": "image/vnd.microsoft.icon",
        // Sound and film.
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac", "ogg": "audio/ogg", "oga": "audio/ogg",
        "opus": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac", "weba": "audio/webm", "mid": "audio/midi",
        "mp4": "video/mp4", "m4v": "video/mp4", "webm": "video/webm", "ogv": "video/ogg", "mov": "video/quicktime",
        "mpeg": "video/mpeg", "mpg": "video/mpeg", "mkv": "video/matroska", "m3u8": "application/vnd.apple.mpegurl",
        "ts": "video/mp2t", "mpd": "application/dash+xml",
        // Fonts.
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
        // Programs and documents.
        "wasm": "application/wasm", "pdf": "application/pdf", "epub": "application/epub+zip",
        "doc": "application/msword", "xls": "application/vnd.ms-excel", "ppt": "application/vnd.ms-powerpoint",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "odt": "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        // Archives.
        "zip": "application/zip", "gz": "application/gzip", "zst": "application/zstd",
        "7z": "application/x-7z-compressed",
        "tar": "application/x-tar", "bz2": "application/x-bzip2", "xz": "application/x-xz",
    ]
}
