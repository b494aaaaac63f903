// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexSockets
public import DuplexWebSockets
import DuplexWire
public import HTTPTypes
import Synchronization

/// The client of a server under test: makes requests and opens WebSockets in memory, moves the time, and has the network go
/// wrong; see `WebServer.test(within:_:)`.
///
/// What it does goes through the whole server, as by a port: routes, admission, limits, deadlines, graceful shutdown.
public final class TestClient: Sendable {
    /// The loop that both sides live on, whose time the test moves.
    public let loop: TestLoop
    private let server: ServingLoops
    private let state = Mutex(State())

    private struct State {
        var host = "localhost"
        var address: SocketAddress?
        var faults = Faults.none
        var capacity = ByteCount.kibibytes(256)
        var connections: [MemoryConnection] = []
        /// How many connections there have been.
        var count = 0
        /// Whether every connection is reset as soon as it is made.
        var isCutOff = false
    }

    init(of server: ServingLoops, on loop: TestLoop) {
        self.server = server
        self.loop = loop
    }

    // MARK: Settings

    /// The time of client and server, which stands still until the test moves it: ``TestClock/advance(by:)``.
    public var clock: TestClock { loop.clock }

    /// The host that requests are for, perhaps with a port.
    ///
    /// Default: `localhost`, which every server answers for. A field Host of a request takes its place.
    public var host: String {
        get { state.withLock { $0.host } }
        set { state.withLock { $0.host = newValue } }
    }

    /// Where connections come from, as the server sees it.
    ///
    /// Default: 127.0.0.1, with a port of its own for each connection.
    public var address: SocketAddress? {
        get { state.withLock { $0.address } }
        set { state.withLock { $0.address = newValue } }
    }

    /// What goes wrong on the way.
    ///
    /// Default: nothing. Setting it holds for connections that are open, too, and their bytes are counted again; of one
    /// connection alone see ``TestConnection/network``.
    public var faults: Faults {
        get { state.withLock { $0.faults } }
        set {
            let connections = state.withLock { state in
                state.faults = newValue
                return state.connections
            }
            for connection in connections { connection.setFaults(newValue) }
        }
    }

    /// The most bytes that wait in each direction of connections that are made from here on.
    ///
    /// Default: 256 KiB.
    package var capacity: ByteCount {
        get { state.withLock { $0.capacity } }
        set { state.withLock { $0.capacity = newValue } }
    }

    /// Lets through what stalls hold back on all connections; see ``MemoryConnection/release(_:bytes:)``.
    public func release(_ direction: Faults.Direction? = nil, bytes count: Int? = nil) {
        for connection in state.withLock({ $0.connections }) { connection.release(direction, bytes: count) }
    }

    /// Resets all connections that are open.
    public func resetConnections() {
        for connection in state.withLock({ $0.connections }) { connection.reset() }
    }

    /// Resets all connections, and those to come.
    func cutOff() {
        state.withLock { $0.isCutOff = true }
        resetConnections()
    }

    // MARK: Connections

    /// Connects, for bytes of any kind and several requests on one connection.
    ///
    /// - Returns: the connection. Close it, or drop it.
    public func connect() async -> TestConnection {
        let (connection, address) = open()
        await loop.loop.make { core in self.accept(connection, from: address, core) }
        let socket = await connection.link.socket(.near, on: loop.loop, localAddress: address)
        return TestConnection(socket, over: connection, host: host)
    }

    /// Makes a GET request; see ``request(_:_:headers:body:)``.
    public func get(_ path: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        try await request(.get, path, headers: headers)
    }

    /// Makes a POST request; see ``request(_:_:headers:body:)``.
    public func post(
        _ path: String,
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> & Sendable = [UInt8]()
    ) async throws -> TestResponse {
        try await request(.post, path, headers: headers, body: body)
    }

    /// Makes a PUT request; see ``request(_:_:headers:body:)``.
    public func put(
        _ path: String,
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> & Sendable = [UInt8]()
    ) async throws -> TestResponse {
        try await request(.put, path, headers: headers, body: body)
    }

    /// Makes a PATCH request; see ``request(_:_:headers:body:)``.
    public func patch(
        _ path: String,
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> & Sendable = [UInt8]()
    ) async throws -> TestResponse {
        try await request(.patch, path, headers: headers, body: body)
    }

    /// Makes a DELETE request; see ``request(_:_:headers:body:)``.
    public func delete(
        _ path: String,
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> & Sendable = [UInt8]()
    ) async throws -> TestResponse {
        try await request(.delete, path, headers: headers, body: body)
    }

    /// Makes a request over a connection of its own, which is closed after the response.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path, with a query if there is one.
    ///   - headers: the fields. Host and Content-Length are added, unless they are there.
    ///   - body: the body, such as an array, or the `utf8` of a text.
    /// - Returns: the response, whole.
    /// - Throws: `HTTPProtocolError` when the request breaks the rules (for those see ``connect()``) or the response does;
    ///   `SocketError` when the connection ends before.
    public func request(
        _ method: HTTPRequest.Method,
        _ path: String,
        headers: HTTPFields = [:],
        body: some Sequence<UInt8> & Sendable = [UInt8]()
    ) async throws -> TestResponse {
        let connection = await connect()
        do {
            let response = try await connection.request(method, path, headers: headers, body: body)
            await connection.close()
            return response
        } catch {
            await connection.reset()
            throw error
        }
    }

    /// Opens a WebSocket by the handshake of a real client.
    ///
    /// - Parameters:
    ///   - path: the path, with a query if there is one.
    ///   - options: subprotocols, compression, fields, origin, limits and times of the client.
    ///   - handler: a synchronous handler of the client's.
    /// - Returns: the open connection.
    /// - Throws: `WebSocketError` that says why the server refused it.
    public func webSocket(
        _ path: String,
        options: WebSocketOptions = WebSocketOptions(),
        handler: (any WebSocketHandler)? = nil
    ) async throws -> WebSocket {
        let url = "ws://\(host)\(path)"
        return try await WebSocket.connect(to: url, options: routed(options), on: loop.group, handler: handler)
    }

    /// Options that lead any client to the server under test, whatever its URL says.
    ///
    /// For what connects by itself, such as `ReconnectingWebSocket`. Give it ``TestLoop/group`` too, for the time that the
    /// test moves.
    public func routed(_ options: WebSocketOptions = WebSocketOptions()) -> WebSocketOptions {
        var options = options
        options.connectOptions = routed(options.connectOptions)
        return options
    }

    /// The same for `Socket.connect(to:timeout:options:on:)`.
    public func routed(_ options: ConnectOptions) -> ConnectOptions {
        var options = options
        options.dial = { [self] loop, core throws(SocketError) in
            let (connection, address) = open()
            if loop === self.loop.loop {
                accept(connection, from: address, core)
            } else {
                self.loop.loop.execute { core in self.accept(connection, from: address, core) }
            }
            return connection.link.channel(.near, on: loop, core, localAddress: address)
        }
        return options
    }

    private func open() -> (MemoryConnection, SocketAddress?) {
        state.withLock { state in
            let connection = MemoryConnection(faults: state.faults, capacity: state.capacity)
            if state.isCutOff { connection.reset() }
            state.connections.removeAll { $0.link.isOver }
            state.connections.append(connection)
            // The ports that systems give to clients.
            let port = 49_152 + state.count % 16_384
            state.count += 1
            return (connection, state.address ?? (try? SocketAddress("127.0.0.1", port: port)))
        }
    }

    /// Gives the server its end, on the loop.
    private func accept(_ connection: MemoryConnection, from address: SocketAddress?, _ core: LoopCore) {
        let channel = connection.link.channel(.far, on: loop.loop, core, remoteAddress: address)
        server.accept(channel, from: address, on: loop.loop)
    }
}
