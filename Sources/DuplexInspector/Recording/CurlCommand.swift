// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes

/// A request as a command line for curl in a POSIX shell.
///
/// Everything of the request is quoted: no name and no body becomes a command, an option, a file or a range of URLs.
struct CurlCommand: Sendable, Equatable {
    /// One command, perhaps with a pipe, without a line end behind it.
    let text: String
    /// Whether the body is all there.
    let isWhole: Bool

    /// Bodies up to this size are an argument; longer ones come through a pipe, for arguments are bounded.
    private static let longestArgument = 64 << 10

    /// Makes the command line of a request; `nil` where that isn't for HTTP, or its method isn't a token.
    ///
    /// - Parameter exchange: a request with its whole URL.
    init?(_ exchange: RecordedExchange) {
        let scheme = exchange.url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", HTTPField.Name(exchange.method) != nil else { return nil }
        var words = ["curl", "--globoff", "--path-as-is", "--url", Self.quoted(Self.visible(exchange.url))]
        switch exchange.method {
        case "GET" where exchange.requestBody.bytes.isEmpty: break
        case "HEAD" where exchange.requestBody.bytes.isEmpty: words.append("--head")
        default: words += ["--request", Self.quoted(exchange.method)]
        }
        words += Self.headers(of: exchange)
        isWhole = !exchange.requestBody.isCut
        let body = exchange.requestBody.bytes
        var start = ""
        if let argument = Self.argument(body) {
            words += ["--data-raw", Self.quoted(argument)]
        } else if !body.isEmpty {
            start = "printf '\(Self.format(body))' | "
            words += ["--data-binary", "@-"]
        }
        text = start + words.joined(separator: " ")
    }

    /// The fields that were sent; what curl would add by itself is left out by naming it without a value.
    private static func headers(of exchange: RecordedExchange) -> [String] {
        var words: [String] = []
        for field in exchange.requestHeaders {
            switch field.name {
            case .contentLength, .transferEncoding, .connection: continue
            default: break
            }
            let value = String(String.UnicodeScalarView(field.value.unicodeScalars.map { $0 == "\t" ? " " : $0 }))
            words += ["--header", quoted(value.isEmpty ? "\(field.name.rawName);" : "\(field.name.rawName): \(value)")]
        }
        var own: [HTTPField.Name] = [.userAgent, .accept]
        if !exchange.requestBody.bytes.isEmpty { own.append(.contentType) }
        for name in own where !exchange.requestHeaders.contains(name) { words += ["--header", quoted("\(name):")] }
        return words
    }

    /// The body as it can stand in a line that people paste; `nil` for none, and for what had better go through a pipe.
    private static func argument(_ body: [UInt8]) -> String? {
        guard !body.isEmpty, body.count <= longestArgument, !body.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            return nil
        }
        return String(validating: body, as: UTF8.self)
    }

    /// A format of printf that writes the bytes: letters and digits as they are, all else in octal digits.
    private static func format(_ body: [UInt8]) -> String {
        var format: [UInt8] = []
        for byte in body {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x20: format.append(byte)
            default: format += [0x5C, 0x30 + byte >> 6, 0x30 + byte >> 3 & 7, 0x30 + byte & 7]
            }
        }
        return String(decoding: format, as: UTF8.self)
    }

    /// The URL with what no URL has written in percent: a terminal would take it for keys.
    private static func visible(_ url: String) -> String {
        url.utf8.map { byte in
            (0x21..<0x7F).contains(byte) ? String(UnicodeScalar(byte)) : "%" + Base16.encode([byte]).uppercased()
        }.joined()
    }

    /// In single quotes, in which a shell takes nothing for its own but their end.
    private static func quoted(_ text: String) -> String {
        "'" + text.unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'"
    }
}
