// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

// The media types of files, by the ends of their names.

extension MediaType {
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
