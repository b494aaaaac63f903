// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire
public import HTTPTypes

/// An answer to a request.
///
/// Its length, the date and what concerns the connection are added when it is sent; such fields of the app's are left out.
public struct Response: Sendable {
    /// The status.
    ///
    /// Default: 200.
    public var status: HTTPResponse.Status
    /// The body; not sent in answer to HEAD.
    public var body: ResponseBody
    /// Fields that are sent after the body, where it goes in chunks (RFC 9110 section 6.5).
    ///
    /// For those that are known only at the end see ``ResponseWriter/setTrailers(_:)``.
    public var trailers: HTTPFields
    /// The media type, apart from the other fields: most responses have no other.
    var mediaType: String?
    var otherFields: HTTPFields {
        didSet { prepared = nil }
    }
    /// The lines of `otherFields`, where they are made already and nothing has been changed since.
    private(set) var prepared: PreparedFields?

    /// The fields.
    public var headers: HTTPFields {
        get {
            guard let mediaType else { return otherFields }
            var headers = otherFields
            headers[.contentType] = mediaType
            return headers
        }
        set {
            otherFields = newValue
            mediaType = nil
        }
    }
}

// In an extension, so that there is the initialiser that the compiler makes: one that is written makes a copy at its end.
extension Response {
    /// Makes a response.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - type: the media type of the body, such as `.json` or `"image/png"`; left out when `nil`.
    ///   - headers: further fields.
    ///   - body: the body, such as `[1, 2, 3]`, `"text"`, or one of ``ResponseBody``'s.
    public init(
        _ status: HTTPResponse.Status = .ok,
        type: MediaType? = nil,
        headers: HTTPFields = HTTPFields(),
        body: ResponseBody = .none
    ) {
        let others = type == nil || headers.isEmpty ? headers : headers.withoutContentType
        self.init(status: status, body: body, trailers: HTTPFields(), mediaType: type?.rawValue, otherFields: others)
    }

    /// Makes a response with a body, and fields that are ready to be sent.
    init(type: MediaType, prepared: PreparedFields, body: ResponseBody) {
        self.init(
            status: .ok,
            body: body,
            trailers: HTTPFields(),
            mediaType: type.rawValue,
            otherFields: prepared.headers,
            prepared: prepared
        )
    }

    /// Makes a response of the bytes of an array, or of a slice or another collection.
    @_disfavoredOverload
    public init(
        _ status: HTTPResponse.Status = .ok,
        type: MediaType? = nil,
        headers: HTTPFields = HTTPFields(),
        body: some Collection<UInt8>
    ) {
        self.init(status, type: type, headers: headers, body: .bytes([UInt8](body)))
    }

    /// Makes a response whose body is written while it is made; see ``ResponseBody/writer(length:_:)``.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - type: the media type of the body.
    ///   - headers: further fields.
    ///   - write: writes the body; it has ended when this returns.
    public init(
        _ status: HTTPResponse.Status = .ok,
        type: MediaType? = nil,
        headers: HTTPFields = HTTPFields(),
        write: @escaping @Sendable (ResponseWriter) async throws -> Void
    ) {
        self.init(status, type: type, headers: headers, body: .writer(write))
    }

    /// A response of plain text.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            body: .text(text),
            trailers: HTTPFields(),
            mediaType: "text/plain; charset=utf-8",
            otherFields: HTTPFields()
        )
    }

    /// A response of HTML.
    ///
    /// Hazard: escape text of others in it, or they decide what the page does.
    public static func html(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status, type: .html, body: .text(text))
    }

    /// Redirects the client.
    ///
    /// - Parameters:
    ///   - location: a URL, or a path on this host.
    ///   - status: after 303 a browser uses GET whatever the method was, after 307 and 308 it keeps the method, and it
    ///     remembers 301 and 308 for good. Default: 302.
    /// - Returns: the response.
    public static func redirect(to location: String, _ status: HTTPResponse.Status = .found) -> Response {
        Response(status, headers: [.location: location])
    }

    /// Adds a field Set-Cookie.
    public mutating func setCookie(_ cookie: SetCookie) {
        otherFields.append(HTTPField(name: .setCookie, value: cookie.fieldValue))
    }

    /// Notes that another request, with another value of that field, may get another answer (RFC 9110 section 12.5.5).
    ///
    /// - Parameter name: the field of the request that it depends on.
    public mutating func vary(by name: HTTPField.Name) {
        guard let present = otherFields[.vary] else {
            otherFields[.vary] = name.rawName
            return
        }
        let names = present.split(separator: ",").map { $0.drop { $0 == " " } }
        if names.contains("*") || names.contains(where: { $0.lowercased() == name.canonicalName }) { return }
        otherFields[.vary] = "\(present), \(name.rawName)"
    }

    /// Makes the client save the body as a file of that name instead of showing it (RFC 6266).
    ///
    /// - Parameter filename: any text; without it the client chooses a name.
    public mutating func attach(as filename: String? = nil) {
        otherFields[.contentDisposition] = ContentDisposition.attachment(filename: filename).description
    }

    // MARK: Conditions

    /// The response, or in its place 304 or 412 if the conditions of a GET or a HEAD say so (RFC 9110 section 13).
    ///
    /// A handler of another method has done its work by now: it asks ``Request/preconditions`` before.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - refuse: makes the response of a problem.
    /// - Returns: the response, or the one in its place.
    func meetingConditions(of request: Request, _ refuse: (Problem, Request) -> Response) -> Response {
        guard request.head.hasConditions, status == .ok, request.method == .get || request.method == .head,
            let validators
        else { return self }
        switch request.preconditions.verdict(validators) {
        case .proceed: return self
        case .notModified: return notModified
        case .failed:
            return refuse(Problem(.preconditionFailed, "What is here isn't what the request is about."), request)
        }
    }

    /// The validators of this content; nil where it has none.
    private var validators: Preconditions.Validators? {
        let tag = otherFields[.eTag].flatMap(EntityTag.init(field:))
        let modified = otherFields[.lastModified].flatMap { HTTPDate.parse($0, now: .now) }
        return tag == nil && modified == nil ? nil : Preconditions.Validators(tag: tag, modified: modified)
    }

    /// RFC 9110 section 15.4.5: without the content, and what only describes it.
    private var notModified: Response {
        var response = Response(.notModified)
        response.otherFields = otherFields
        for name in [HTTPField.Name.contentEncoding, .contentLanguage, .contentRange, .contentDisposition] {
            response.otherFields[name] = nil
        }
        return response
    }

    // MARK: Compression

    /// Has the body compressed when it is sent, if the client takes that and the response is one to be compressed.
    mutating func compress(for request: Request, by compression: ResponseCompression) {
        let verdict = verdict(for: request, by: compression)
        note(verdict)
        guard case .coded(let coding) = verdict else { return }
        // What is pushed goes out as it is made, whatever middleware has said that it is.
        if case .pushed = body.content { return }
        otherFields[.contentEncoding] = coding.rawValue
        // Lengths and ranges are of the content as it was.
        otherFields[.contentLength] = nil
        otherFields[.acceptRanges] = nil
        body = ResponseBody(content: .coded(CodedBody(body, coding, level: compression.level)))
    }

    /// Has a 304 say what the response in whose place it is would have said.
    mutating func note(originally original: Response, for request: Request, by compression: ResponseCompression) {
        note(original.verdict(for: request, by: compression))
    }

    private func verdict(for request: Request, by compression: ResponseCompression) -> ResponseCompression.Verdict {
        let type = (mediaType ?? otherFields[.contentType]).map(MediaType.init(rawValue:))
        return compression.verdict(
            status: status,
            type: type,
            headers: otherFields,
            length: body.count,
            accepting: request.acceptedCodings
        )
    }

    private mutating func note(_ verdict: ResponseCompression.Verdict) {
        if verdict != .same { vary(by: .acceptEncoding) }
        if case .coded = verdict { weakenTag() }
    }

    /// The tag of other bytes that are worth the same: a strong one names these bytes only (RFC 9110 section 8.8.3).
    private mutating func weakenTag() {
        guard let tag = otherFields[.eTag].flatMap(EntityTag.init(field:)), !tag.isWeak else { return }
        otherFields[.eTag] = "W/\(tag)"
    }
}

extension Response: CustomStringConvertible {
    /// The status, the media type and the length of the body in one line, such as `200 OK, text/html; charset=utf-8, 34 bytes`.
    ///
    /// The other fields and the body may hold secrets and are left out. The length is left out if it isn't known yet.
    public var description: String {
        var parts = [
            status.reasonPhrase.isEmpty ? "\(status.code)" : "\(status.code) \(LogText.escaped(status.reasonPhrase))"
        ]
        if let type = mediaType ?? otherFields[.contentType] { parts.append(LogText.escaped(type)) }
        if let count = body.count { parts.append(count == 1 ? "1 byte" : "\(count) bytes") }
        return parts.joined(separator: ", ")
    }
}

extension HTTPFields {
    fileprivate var withoutContentType: HTTPFields {
        var headers = self
        headers[.contentType] = nil
        return headers
    }
}

/// What a route may return: a ``Response``, or something that makes one.
public protocol ResponseConvertible: Sendable {
    /// The response that is sent.
    var response: Response { get }
    /// The response to that request, for what depends on it.
    ///
    /// Default: ``response``, whatever the request.
    ///
    /// - Parameter request: the request.
    /// - Returns: the response.
    /// - Throws: as a handler does.
    func response(to request: Request) throws -> Response
}

extension ResponseConvertible {
    /// The response, whatever the request.
    public func response(to request: Request) throws -> Response { response }
}

extension Response: ResponseConvertible {
    /// The response itself.
    public var response: Response { self }
}

extension String: ResponseConvertible {
    /// The text as `text/plain` in UTF-8.
    public var response: Response { .text(self) }
}

extension HTTPResponse.Status: ResponseConvertible {
    /// A response of that status without a body.
    public var response: Response { Response(self) }
}

extension Optional: ResponseConvertible where Wrapped: ResponseConvertible {
    /// The response of the value; 404 in plain text for `nil`.
    public var response: Response { self?.response ?? Problem.nothingHere.response }

    /// The response of the value.
    ///
    /// ```swift
    /// server.get("/names/:id") { request in names[request.parameters["id", default: ""]] }   // a String?
    /// ```
    ///
    /// - Parameter request: the request.
    /// - Returns: the response.
    /// - Throws: ``Problem`` with 404 for `nil`; else as the value's.
    public func response(to request: Request) throws -> Response {
        guard let self else { throw Problem.nothingHere }
        return try self.response(to: request)
    }
}
