// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
public import DuplexWire
public import HTTPTypes

/// A connection in memory to a server under test: for several requests on one connection, bodies in pieces, and bytes that
/// are wrong on purpose.
///
/// ```swift
/// let connection = await client.connect()
/// try await connection.send(raw: "GET / HTTP/1.1\r\n\r\n")
/// #expect(try await connection.response().status == .badRequest)
/// #expect(try await connection.receive() == nil)
/// ```
///
/// One task sends and one receives at a time. A connection that is dropped is reset.
public actor TestConnection {
    /// What lies between client and server, and goes wrong.
    public nonisolated let network: MemoryConnection
    private let socket: Socket
    private let host: String
    private var reader = ResponseReader()
    /// The methods of the requests that wait for their responses.
    private var unanswered: [HTTPRequest.Method] = []
    private var sendsChunks = false

    init(_ socket: Socket, over network: MemoryConnection, host: String) {
        self.socket = socket
        self.network = network
        self.host = host
    }

    // MARK: Bytes

    /// Sends bytes as they are.
    ///
    /// - Parameter bytes: such as an array, or the `utf8` of a text.
    /// - Throws: `SocketError` when the connection has ended.
    public func send(raw bytes: some Sequence<UInt8> & Sendable) async throws {
        try await socket.write(Array(bytes))
    }

    /// Sends a text as it is, in UTF-8.
    public func send(raw text: String) async throws {
        try await send(raw: text.utf8)
    }

    /// Receives what has come, and waits while nothing has.
    ///
    /// - Returns: some bytes that belong to no response that was asked for, or `nil` at the end of the stream.
    /// - Throws: `SocketError` when the connection was reset.
    public func receive() async throws -> [UInt8]? {
        let rest = reader.takeRest()
        return rest.isEmpty ? try await socket.read() : rest
    }

    /// Receives all that comes up to the end of the stream.
    ///
    /// - Throws: `SocketError` when the connection was reset.
    package func receiveAll() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await receive() { bytes += piece }
        return bytes
    }

    /// Ends the outgoing stream; what the server still sends is received.
    public func finishWriting() async {
        await socket.finishWriting()
    }

    /// Closes the connection in order.
    ///
    /// As over TCP, a handler that is at work learns this when it writes; ``reset()`` cancels it at once.
    public func close() async {
        await socket.close()
    }

    /// Closes the connection at once, with a reset.
    public func reset() async {
        await socket.reset()
    }

    // MARK: Requests

    /// Makes a GET request; see ``request(_:_:headers:body:)``.
    public func get(_ path: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        try await request(.get, path, headers: headers)
    }

    /// Makes a request, and waits for its response.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path, with a query if there is one.
    ///   - headers: the fields. Host and Content-Length are added, unless they are there.
    ///   - body: the body.
    /// - Returns: the response, whole.
    /// - Throws: `HTTPProtocolError` when the request breaks the rules, which takes `send(raw:)`, or the response does; `SocketError`
    ///   when the connection ends before.
    public func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> & Sendable = [UInt8]()
    ) async throws -> TestResponse {
        try await send(method, path, headers: headers, body: body)
        return try await response()
    }

    /// Sends a request, and doesn't wait: for several in a row, each answered by a ``response()``.
    ///
    /// Parameters and errors are those of ``request(_:_:headers:body:)``.
    public func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> & Sendable = [UInt8]()
    ) async throws {
        let body = Array(body)
        var headers = headers
        // RFC 9110 section 8.6: such a method has a length also without a body.
        let isNamed = headers.contains(.contentLength) || headers.contains(.transferEncoding)
        if !isNamed, !body.isEmpty || [.post, .put, .patch].contains(method) {
            headers[.contentLength] = "\(body.count)"
        }
        try await socket.write(try head(method, path, headers) + body)
        unanswered.append(method)
    }

    /// Sends the head of a request whose body follows piece by piece, in chunks unless the fields say how long it is.
    ///
    /// Parameters and errors are those of ``request(_:_:headers:body:)``.
    public func begin(_ method: HTTPRequest.Method, _ path: String, headers: HTTPFields = [:]) async throws {
        var headers = headers
        sendsChunks = !headers.contains(.contentLength)
        if sendsChunks { headers[.transferEncoding] = "chunked" }
        try await socket.write(try head(method, path, headers))
        unanswered.append(method)
    }

    /// Sends a piece of the body behind ``begin(_:_:headers:)``.
    ///
    /// - Parameter piece: some bytes; none send nothing.
    /// - Throws: `SocketError` when the connection has ended.
    public func write(_ piece: some Sequence<UInt8> & Sendable) async throws {
        let piece = Array(piece)
        if piece.isEmpty { return }
        // RFC 9112 section 7.1.
        let size = String(piece.count, radix: 16)
        try await socket.write(sendsChunks ? Array("\(size)\r\n".utf8) + piece + [13, 10] : piece)
    }

    /// Ends the body behind ``begin(_:_:headers:)``.
    ///
    /// - Parameter trailers: fields after a body in chunks; ignored where the length was said.
    /// - Throws: `SocketError` when the connection has ended.
    public func finish(trailers: HTTPFields = [:]) async throws {
        guard sendsChunks else { return }
        let headers = trailers.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
        try await socket.write(Array("0\r\n\(headers)\r\n".utf8))
    }

    private func head(_ method: HTTPRequest.Method, _ path: String, _ headers: HTTPFields) throws -> [UInt8] {
        var headers = headers
        if let name = HTTPField.Name("Host"), !headers.contains(name) { headers[name] = host }
        var bytes: [UInt8] = []
        try RequestHead(method: method, target: path, headers: headers).write(to: &bytes)
        return bytes
    }

    // MARK: Responses

    /// Waits for the next response, whole, with the interim ones before it.
    ///
    /// - Returns: the response to the oldest request that has none, or to what was sent raw, which is taken for a GET.
    /// - Throws: `HTTPProtocolError` when it breaks the rules or is cut; `SocketError` when the connection ends before it.
    public func response() async throws -> TestResponse {
        var interim: [ResponseHead] = []
        var head = try await self.head()
        while head.status.kind == .informational && head.status != .switchingProtocols {
            interim.append(head)
            head = try await self.head()
        }
        var body: [UInt8] = []
        while let piece = try await piece() { body += piece }
        return TestResponse(head: head, body: body, trailers: reader.trailers, interim: interim)
    }

    /// Waits for the next head, of an interim response too: for a body that is taken by ``piece()`` as it comes.
    ///
    /// - Throws: as ``response()``.
    public func head() async throws -> ResponseHead {
        let method = unanswered.first ?? .get
        while true {
            if let head = try reader.nextHead(answering: method) {
                if head.status.kind != .informational, !unanswered.isEmpty { unanswered.removeFirst() }
                return head
            }
            if try await !receiveMore() {
                try reader.finish()
                throw SocketError(.endOfStream, message: "The server ended the connection without a response.")
            }
        }
    }

    /// Waits for the next piece of the body that belongs to the last ``head()``.
    ///
    /// - Returns: some bytes, or `nil` at the end of the body.
    /// - Throws: as ``response()``.
    public func piece() async throws -> [UInt8]? {
        while true {
            switch try reader.nextPiece() {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case nil: if try await !receiveMore() { try reader.finish() }
            }
        }
    }

    /// The fields after the body in chunks that was received last.
    public var trailers: HTTPFields { reader.trailers }

    private func receiveMore() async throws -> Bool {
        guard let bytes = try await socket.read() else { return false }
        reader.append(bytes)
        return true
    }
}

/// Reads responses out of bytes that come in pieces of any size: heads, pieces of bodies and trailers, as they are asked for.
struct ResponseReader {
    private enum Stage {
        /// Before a head, or within it.
        case head
        case body(BodyDecoder)
    }

    private var stage = Stage.head
    private var parser = ResponseHeadParser(limits: .unlimited)
    private var input: [UInt8] = []
    /// The fields behind the last body.
    private(set) var trailers: HTTPFields = [:]

    /// Whether the head of a response has come and its body hasn't ended.
    var isMidBody: Bool {
        if case .body = stage { true } else { false }
    }

    /// Takes bytes in.
    mutating func append(_ bytes: [UInt8]) {
        input += bytes
    }

    /// What came and belongs to no response yet.
    mutating func takeRest() -> [UInt8] {
        defer { input = [] }
        return input
    }

    /// Takes the next head.
    ///
    /// - Parameter method: the method of the request that it answers.
    /// - Returns: the head; `nil` when more bytes are needed for it.
    /// - Throws: `HTTPProtocolError` when it breaks the rules.
    mutating func nextHead(answering method: HTTPRequest.Method) throws(HTTPProtocolError) -> ResponseHead? {
        var position = 0
        let bytes = input
        let head = try parser.parse(bytes.span, from: &position)
        input.removeFirst(position)
        guard let head else { return nil }
        trailers = [:]
        // RFC 9110 section 15.2: no body, and the final response is still to come, or another protocol.
        if head.status.kind == .informational { return head }
        stage = .body(try BodyDecoder(head.framing(answering: method), limits: .unlimited, isResponse: true))
        return head
    }

    /// What comes next of a body.
    enum Piece: Equatable {
        case bytes([UInt8])
        /// The body has ended, or there is none.
        case end
    }

    /// The next piece of the body; `nil` when more bytes are needed for it.
    mutating func nextPiece() throws(HTTPProtocolError) -> Piece? {
        guard case .body(var decoder) = stage else { return .end }
        var position = 0
        let bytes = input
        let piece = try decoder.next(bytes.span, from: &position)
        defer { input.removeFirst(position) }
        stage = .body(decoder)
        switch piece {
        case nil: return nil
        case .data(let range): return .bytes(Array(bytes[range]))
        case .end(let headers):
            trailers = headers
            stage = .head
            return .end
        }
    }

    /// Takes note that the stream has ended.
    ///
    /// - Throws: `HTTPProtocolError` when a response is cut by that.
    mutating func finish() throws(HTTPProtocolError) {
        switch stage {
        case .head:
            if parser.isMidHead {
                throw HTTPProtocolError(.truncated, "the stream ended within the head of a response")
            }
        case .body(var decoder):
            try decoder.finish()
            stage = .body(decoder)
        }
    }
}
