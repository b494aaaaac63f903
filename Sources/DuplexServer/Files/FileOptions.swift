// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire

/// How the files of a folder are served; see `files` of ``RouteBuilder``.
public struct FileOptions: Sendable {
    /// What a folder is answered with: the first of these names that it has.
    ///
    /// Default: `index.html`.
    public var indexes = ["index.html"]
    /// Whether a folder that has none of ``indexes`` is answered with a list of what is in it.
    ///
    /// Default: no.
    public var showsListings = false
    /// Whether names that begin with a dot are answered and listed.
    ///
    /// Default: no, but for `/.well-known` (RFC 8615).
    public var showsHidden = false
    /// For how long a client may use a file without asking.
    ///
    /// Default: `nil`, and with zero, too, it asks each time, and gets 304 while the file is the same.
    public var maxAge: Duration?
    /// Whether a file whose name holds a hash of its content, such as `app.3f9a1c2b.js`, may be kept for good.
    ///
    /// Default: no. What is taken for a hash: eight letters and digits or more between dots or dashes before the end of
    /// the name, a digit and a letter among them.
    public var hashedNamesAreImmutable = false
    /// Whether `app.js` is answered with `app.js.br`, `app.js.zst` or `app.js.gz` where the client takes that.
    ///
    /// Default: yes, but for one that is older than the file.
    package var usesPrecompressed = true
    /// How files are compressed for clients that take gzip, where there is no sibling for them.
    ///
    /// Text and what is like it, as in `compressResponses`; each file once, off the loops unless it is short, and kept
    /// in memory: files of up to 1 MiB, and 16 MiB in all. Such a response has an `ETag` of its own. Parts
    /// of files are those of the file as it is. Default: from 1 KiB on, at level 6; with `.disabled` none are.
    public var compression = ResponseCompression.standard
    /// The longest file that is compressed.
    ///
    /// Default: 1 MiB. To longer ones `compressResponses` applies, where it is used: they are compressed each time.
    package var compressedFileSize: ByteCount = .mebibytes(1)
    /// How many bytes of compressed files are kept for all loops; those that were asked for longest ago make way.
    ///
    /// Default: 16 MiB.
    package var compressedSize: ByteCount = .mebibytes(16)
    /// Media types by the ends of names, without the dot and in lower case.
    ///
    /// They come before those of `MediaType.ofFile(named:)`. Default: none.
    public var types: [String: MediaType] = [:]
    /// The page of an app that makes its paths itself, such as `index.html`.
    ///
    /// It answers, with 200, where a browser asks for a page that isn't there, and the last name has no dot. Default:
    /// none.
    public var fallbackPage: String?
    /// The page that is sent with 404, such as `404.html`.
    ///
    /// Default: none.
    public var notFoundPage: String?
    /// Whether browsers are to keep files instead of showing them.
    ///
    /// Default: no.
    public var sendsAsAttachments = false

    /// How many files each loop keeps open, with what is ready of their responses; each takes a descriptor.
    ///
    /// The one that was asked for longest ago makes way for another one, and one that nobody has asked for for 20 s is
    /// closed; all are where the process has no descriptor left. Default: 100. With 0 each request opens its file.
    package var openFileLimit = 100
    /// For how long a file that is open stands for its path.
    ///
    /// After that time it is looked for again, and so are siblings in codings: another file that is there by a folder
    /// or a link that was renamed is seen then. A change in the file itself is seen at once, and so is one that takes
    /// its place or its removal, as the system notes these with the file. Default: 1 s. With zero it is looked for each time. On systems without openat2(2)
    /// each request opens its file.
    package var openFileAge = Duration.seconds(1)

    /// The durations that are set here.
    var durations: [DurationSetting] {
        [
            DurationSetting("maxAge", optional: maxAge, allowsZero: true),
            DurationSetting("openFileAge", openFileAge, allowsZero: true),
        ]
    }

    /// Whether not everybody may have the files: then no cache between may keep them.
    var isPrivate = false

    /// Makes options.
    public init() {}

    func type(of name: String) -> MediaType {
        if !types.isEmpty, let dot = name.lastIndex(of: "."),
            let type = types[name[name.index(after: dot)...].lowercased()]
        {
            return type
        }
        return .ofFile(named: name)
    }

    /// Whether a file of that type and size is compressed for clients that take it.
    func mayCompress(_ type: MediaType, _ size: UInt64) -> Bool {
        guard size <= UInt64(clamping: compressedFileSize.bytes) else { return false }
        return verdict(type, size, CodingPreferences([:])) != .same
    }

    /// How a file of that type and size is sent to a client with those preferences.
    func verdict(
        _ type: MediaType,
        _ size: UInt64,
        _ preferences: CodingPreferences
    ) -> ResponseCompression.Verdict {
        compression.verdict(status: .ok, type: type, headers: [:], length: Int(clamping: size), accepting: preferences)
    }

    /// The value of `Cache-Control` for a file of that name (RFC 9111 section 5.2.2, RFC 8246).
    func cacheControl(of name: String) -> String {
        if hashedNamesAreImmutable && Self.holdsHash(name) {
            return (isPrivate ? "private" : "public") + ", max-age=31536000, immutable"
        }
        guard let maxAge else { return isPrivate ? "private, no-cache" : "no-cache" }
        return (isPrivate ? "private, " : "") + "max-age=\(max(0, maxAge.components.seconds))"
    }

    static func holdsHash(_ name: String) -> Bool {
        let parts = name.utf8.split { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
        return parts.dropFirst().dropLast().contains { part in
            part.count >= 8 && part.allSatisfy { isDigit($0) || isLetter($0) } && part.contains(where: isDigit)
                && part.contains(where: isLetter)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }
}
