// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// Reads the heads of responses from input that arrives in pieces of any size (RFC 9112 section 4).
///
/// The result is the same wherever the input is cut, errors included. Folded fields are unfolded (RFC 9112 section 5.2).
public struct ResponseHeadParser: Sendable {
    private var parser: HeadParser<ResponseGrammar>

    /// Makes a parser within these limits.
    ///
    /// - Parameter limits: Of these, `headSize` and `headFields` count; the status line has at most 8 KiB of the
    ///   former. Each line of a folded field counts as a field.
    public init(limits: HTTPLimits = .internet) {
        parser = HeadParser(limits: limits)
    }

    /// Whether a head has begun and isn't complete.
    public var isMidHead: Bool { parser.isMidHead }

    /// Takes input up to the end of a head, and returns the head, or nil if its end hasn't arrived.
    ///
    /// What follows the head stays untouched: a body, the next response, or frames. The parser is then ready for the
    /// next head. After an error it isn't: each further call throws it again.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: The head, or nil when more input is needed.
    /// - Throws: ``HTTPError`` saying what is wrong with the head.
    public mutating func parse(_ input: Span<UInt8>, from position: inout Int) throws(HTTPError) -> ResponseHead? {
        try parser.parse(input, from: &position)
    }
}

/// The status line, and the head made from it.
enum ResponseGrammar: HeadGrammar {
    struct StartLine {
        let status: HTTPResponse.Status
        let version: HTTPVersion
    }

    static var skipsEmptyLine: Bool { false }
    // RFC 9112 section 5.2: a user agent unfolds them.
    static var unfoldsFields: Bool { true }
    static var malformedStartLine: HTTPError.Code { .malformedStatusLine }

    static func overlongStartLine(_ line: [UInt8]) -> HTTPError.Code { .headTooLarge }

    /// Reads a status line such as `HTTP/1.1 101 Switching Protocols`.
    ///
    /// The reason, and with some servers the space before it, may be missing.
    static func startLine(_ line: Span<UInt8>) throws(HTTPError) -> StartLine {
        guard line.count >= 12, let version = HTTPVersion(line.extracting(..<8)), line[8] == Grammar.space,
            let code = Grammar.decimal(Grammar.array(line.extracting(9..<12))), (100...599).contains(code),
            line.count == 12 || line[12] == Grammar.space
        else {
            throw HTTPError(
                .malformedStatusLine,
                "the answer begins with \(Quotation.of(line)), not with HTTP/1.1 and a status"
            )
        }
        guard version.major == 1 else {
            throw HTTPError(.unsupportedVersion, "the answer is in \(version); HTTP/1.1 is what is understood here")
        }
        let reason = line.extracting(min(13, line.count)...)
        return StartLine(status: HTTPResponse.Status(code: code, reasonPhrase: latin(reason)), version: version)
    }

    /// The reason, each byte for the character of that number: the one encoding in which every reason can be kept.
    private static func latin(_ bytes: Span<UInt8>) -> String {
        var text = ""
        for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
        return text
    }

    static func head(_ start: StartLine, _ fields: HTTPFields) throws(HTTPError) -> ResponseHead {
        ResponseHead(status: start.status, version: start.version, fields: fields)
    }
}
