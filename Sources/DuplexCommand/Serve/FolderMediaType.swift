// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire

/// The media types of files by the ends of their names.
enum FolderMediaType {
    /// The type of a file; bytes of any kind where the end of its name isn't known.
    static func of(_ name: String) -> MediaType {
        guard let dot = name.lastIndex(of: ".") else { return .octetStream }
        return types[name[name.index(after: dot)...].lowercased()] ?? .octetStream
    }

    private static let types: [String: MediaType] = [
        "html": .html, "htm": .html, "css": .css, "js": .javaScript, "mjs": .javaScript, "csv": .csv,
        "txt": .plainText, "md": "text/markdown; charset=utf-8", "json": .json, "map": .json, "xml": .xml,
        "webmanifest": "application/manifest+json", "wasm": "application/wasm", "pdf": "application/pdf",
        "svg": .svg, "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
        "webp": "image/webp", "avif": "image/avif", "ico": "image/vnd.microsoft.icon",
        "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4", "webm": "video/webm",
        "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
        "zip": "application/zip", "gz": "application/gzip",
    ]
}
