// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer
public import DuplexSockets
public import DuplexWire
public import HTTPTypes

extension Request {
    /// Makes a request without a server, so that a handler can be tested as the function that it is.
    ///
    /// ```swift
    /// let request = try Request(.post, "/notes/7?draft=1", body: "text".utf8, parameters: ["id": "7"])
    /// #expect(try await addNote(request).status == .created)
    /// ```
    ///
    /// It goes through no route and no middleware: what these note with a request, a test notes itself, such as
    /// `request[Tenant.self] = "acme"`. The body comes in one piece. `connection.sleep(for:)` takes real time, and early
    /// hints can't be sent.
    ///
    /// - Parameters:
    ///   - method: the method. Default: GET.
    ///   - path: the path, with a query if there is one. Default: `/`.
    ///   - headers: the fields. Host with `localhost` is added, and Content-Length if there is a body, unless they are there.
    ///   - body: the body, such as an array, or the `utf8` of a text. Default: none.
    ///   - parameters: the values of the parameters of the route's path, as `["id": "7"]` for `/notes/:id`. Default: none.
    ///   - remoteAddress: where the request comes from. Default: `nil`.
    /// - Throws: `HTTPProtocolError` if the parts break a rule of HTTP.
    public init(
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/",
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> = [UInt8](),
        parameters: PathParameters = [:],
        from remoteAddress: SocketAddress? = nil
    ) throws(HTTPProtocolError) {
        let bytes = Array(body)
        var fields = headers
        if let host = HTTPField.Name("Host"), !fields.contains(host) { fields[host] = "localhost" }
        let isFramed = fields.contains(.contentLength) || fields.contains(.transferEncoding)
        if !isFramed, !bytes.isEmpty { fields[.contentLength] = "\(bytes.count)" }
        let head = try RequestHead(method: method, target: path, headers: fields)
        self.init(head: head, parameters: parameters, body: bytes, from: remoteAddress)
    }
}
