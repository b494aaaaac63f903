// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import HTTPTypes

/// Reads the heads of requests from input that arrives in pieces of any size (RFC 9112 section 3).
///
/// The result is the same wherever the input is cut, errors included. What can be read in two ways is refused rather
/// than mended: that's what request smuggling lives on (RFC 9112 section 11.2).
public struct RequestHeadParser: Sendable {
    private var parser: HeadParser<RequestGrammar>

    /// Makes a parser within these limits.
    ///
    /// - Parameter limits: Of these, `headSize` and `headFields` count; the request line has at most 8 KiB of the
    ///   former.
    public init(limits: HTTPLimits = .internet) {
        parser = HeadParser(limits: limits)
    }

    /// Whether a head has begun and isn't complete; a client that is silent for too long then is answered with 408.
    public var isMidHead: Bool { parser.isMidHead }

    /// Takes input up to the end of a head, and returns the head, or nil if its end hasn't arrived.
    ///
    /// What follows the head stays untouched: a body, the next request, or frames. The parser is then ready for the
    /// next head. After an error it isn't: each further call throws it again.
    ///
    /// - Parameters:
    ///   - input: The piece at hand.
    ///   - position: Where to begin; left after the last byte taken.
    /// - Returns: The head, or nil when more input is needed.
    /// - Throws: ``HTTPError`` with the status to answer.
    public mutating func parse(_ input: Span<UInt8>, from position: inout Int) throws(HTTPError) -> RequestHead? {
        if parser.isFresh, let head = WholeHead.read(input.raw, from: &position, bounds: parser.bounds) { return head }
        return try parser.parse(input, from: &position)
    }
}

/// The request line, and the head made from it.
enum RequestGrammar: HeadGrammar {
    struct StartLine {
        let method: HTTPRequest.Method
        let target: String
        let version: HTTPVersion
    }

    // RFC 9112 section 2.2: some clients send an empty line behind a body.
    static var skipsEmptyLine: Bool { true }
    // RFC 9112 section 5.2: a server may refuse them, and other recipients on the way may see other fields.
    static var unfoldsFields: Bool { false }
    static var malformedStartLine: HTTPError.Code { .malformedRequestLine }

    // RFC 9112 section 3: whose method has no end yet has one that is longer than any that there is.
    static func overlongStartLine(_ line: [UInt8]) -> HTTPError.Code {
        line.contains(Grammar.space) ? .uriTooLong : .unknownMethod
    }

    static func startLine(_ line: Span<UInt8>) throws(HTTPError) -> StartLine {
        guard let methodEnd = line.firstIndex(of: Grammar.space), let targetEnd = line.lastIndex(of: Grammar.space),
            methodEnd < targetEnd
        else {
            throw HTTPError(
                .malformedRequestLine,
                "the request line is \(Quotation.of(line)), not METHOD target HTTP/1.1"
            )
        }
        let version = try version(line.extracting((targetEnd + 1)...))
        guard let method = HTTPRequest.Method(Grammar.string(line.extracting(..<methodEnd))) else {
            throw HTTPError(.malformedRequestLine, "the request line has no method: \(Quotation.of(line))")
        }
        let target = line.extracting((methodEnd + 1)..<targetEnd)
        for index in target.indices where Grammar.isBlank(target[index]) {
            throw HTTPError(.malformedRequestLine, "the request target has white space: \(Quotation.of(line))")
        }
        if target.isEmpty { throw HTTPError(.malformedRequestLine, "the request target is empty") }
        return StartLine(method: method, target: Grammar.string(target), version: version)
    }

    private static func version(_ text: Span<UInt8>) throws(HTTPError) -> HTTPVersion {
        guard let version = HTTPVersion(text) else {
            throw HTTPError(.malformedRequestLine, "the request line ends in \(Quotation.of(text)), not in HTTP/1.1")
        }
        guard version.major == 1 else {
            throw HTTPError(.unsupportedVersion, "the request is in \(version); HTTP/1.1 is what is understood here")
        }
        return version
    }

    static func head(_ start: StartLine, _ fields: HTTPFields) throws(HTTPError) -> RequestHead {
        try RequestHead(method: start.method, target: start.target, version: start.version, fields: fields)
    }
}

extension Span<UInt8> {
    /// The first place at which the byte stands.
    func firstIndex(of byte: UInt8) -> Int? {
        for index in indices where self[index] == byte { return index }
        return nil
    }

    /// The last place at which the byte stands.
    func lastIndex(of byte: UInt8) -> Int? {
        for index in indices.reversed() where self[index] == byte { return index }
        return nil
    }
}
