// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

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
    public var fields: HTTPFields {
        get {
            guard let mediaType else { return otherFields }
            var fields = otherFields
            fields[.contentType] = mediaType
            return fields
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
    ///   - fields: further fields.
    ///   - body: the body, such as `[1, 2, 3]`, `"text"`, or one of ``ResponseBody``'s.
    public init(
        status: HTTPResponse.Status = .ok,
        type: MediaType? = nil,
        fields: HTTPFields = HTTPFields(),
        body: ResponseBody = .none
    ) {
        let others = type == nil || fields.isEmpty ? fields : fields.withoutContentType
        self.init(status: status, body: body, trailers: HTTPFields(), mediaType: type?.rawValue, otherFields: others)
    }

    /// Makes a response with a body, and fields that are ready to be sent.
    init(type: MediaType, prepared: PreparedFields, body: ResponseBody) {
        self.init(
            status: .ok,
            body: body,
            trailers: HTTPFields(),
            mediaType: type.rawValue,
            otherFields: prepared.fields,
            prepared: prepared
        )
    }

    /// Makes a response of bytes.
    public init(
        status: HTTPResponse.Status = .ok,
        type: MediaType? = nil,
        fields: HTTPFields = HTTPFields(),
        body: [UInt8]
    ) {
        self.init(status: status, type: type, fields: fields, body: .bytes(body))
    }

    /// Makes a response whose body is written while it is made; see ``ResponseBody/writer(length:_:)``.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - type: the media type of the body.
    ///   - fields: further fields.
    ///   - write: writes the body; it has ended when this returns.
    public init(
        status: HTTPResponse.Status = .ok,
        type: MediaType? = nil,
        fields: HTTPFields = HTTPFields(),
        write: @escaping @Sendable (ResponseWriter) async throws -> Void
    ) {
        self.init(status: status, type: type, fields: fields, body: .writer(write))
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
        Response(status: status, type: .html, body: .text(text))
    }

    /// Redirects the client.
    ///
    /// - Parameters:
    ///   - location: a URL, or a path on this host.
    ///   - status: after 303 a browser uses GET whatever the method was, after 307 and 308 it keeps the method, and it
    ///     remembers 301 and 308 for good. Default: 302.
    /// - Returns: the response.
    public static func redirect(to location: String, _ status: HTTPResponse.Status = .found) -> Response {
        Response(status: status, fields: [.location: location])
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
}

extension HTTPFields {
    fileprivate var withoutContentType: HTTPFields {
        var fields = self
        fields[.contentType] = nil
        return fields
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
    public var response: Response { Response(status: self) }
}
