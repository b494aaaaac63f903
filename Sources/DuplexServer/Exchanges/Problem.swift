// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import HTTPTypes

/// An error of a feature that says what the client gets for it.
package protocol RefusingError: Error {
    /// What is answered; `nil` for an error that is this side's, which is logged and answered with 500.
    var refusal: Problem? { get }
}

/// An error of an app that says itself what a client gets for it.
///
/// ```swift
/// extension ShopError: ProblemConvertible {
///     var problem: Problem { Problem(.conflict, "Sold out.") }
/// }
/// ```
///
/// A handler that throws it is answered with ``problem``. One with a status of 500 or more is logged as other failures are.
public protocol ProblemConvertible: Error {
    /// What a client gets.
    var problem: Problem { get }
}

/// An error response: nothing matches, a rule is broken, or a handler has failed.
///
/// It becomes JSON (RFC 9457) for clients that prefer that to text, and plain text for others; see
/// ``RouteOption/problems(_:)`` for pages of your own.
public struct Problem: Error, Sendable, Hashable {
    /// The status.
    public var status: HTTPResponse.Status
    /// What was wrong, in a sentence for people.
    public var detail: String
    /// Fields that go with it, such as `Allow` or `Retry-After`.
    public var headers: HTTPFields

    /// Makes a problem, to be thrown or returned by a handler.
    ///
    /// - Parameters:
    ///   - status: the status, from 400 on.
    ///   - detail: what was wrong, in a sentence for people.
    ///   - headers: fields that go with it. Default: none.
    public init(_ status: HTTPResponse.Status, _ detail: String, headers: HTTPFields = HTTPFields()) {
        self.status = status
        self.detail = detail
        self.headers = headers
    }

    /// The response, in the form that the request asks for.
    ///
    /// - Parameter request: the request; `nil` for one that couldn't be read, which gets plain text.
    /// - Returns: the response.
    public func response(for request: Request?) -> Response {
        let preferred = request.flatMap { $0.accepted.preferred(of: [.plainText, .html, .problemJSON, .json]) }
        var response = preferred?.isJSON == true ? json : text
        for field in headers { response.otherFields.append(field) }
        // What it quotes of the request is no page, whatever a browser makes of it.
        response.otherFields[.xContentTypeOptions] = "nosniff"
        if request != nil { response.vary(by: .accept) }
        return response
    }

    private var text: Response {
        .text("\(status.code) \(status.reasonPhrase)\n\(detail)\n", status: status)
    }

    /// The problem in JSON, without its fields (RFC 9457 section 3: without a type, the title is that of the status).
    package var json: Response {
        let members = [
            JSONText.Member(name: "status", value: .integer(Int64(status.code))),
            JSONText.Member(name: "title", value: .string(status.reasonPhrase)),
            JSONText.Member(name: "detail", value: .string(detail)),
        ]
        return Response(status, type: .problemJSON, body: .text(JSONText.object(members).text + "\n"))
    }
}

extension Problem {
    /// The answer to a request for something that isn't here: no such value in the path, or a handler that returns `nil`.
    package static var nothingHere: Problem { Problem(.notFound, "There is nothing at this path.") }
}

extension Problem: CustomStringConvertible {
    /// The status and the detail in one line: `409 Conflict: Sold out.`.
    ///
    /// Control characters in the detail are escaped. The fields are left out, as they may hold secrets.
    public var description: String {
        var line = "\(status.code) \(status.reasonPhrase): "
        for scalar in detail.unicodeScalars {
            if JSONText.isEscaped(scalar) {
                JSONText.escape(scalar, to: &line)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}

extension Problem: ResponseConvertible {
    /// The response in plain text, where the request isn't known; see ``response(for:)``.
    public var response: Response { response(for: nil) }

    /// The same as to throw it: in the form that the request asks for, or what ``RouteOption/problems(_:)`` makes of it.
    public func response(to request: Request) throws -> Response { throw self }
}
