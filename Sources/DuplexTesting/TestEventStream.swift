// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexWire
public import HTTPTypes

/// An event stream of a server under test, as `EventSource` reads it; see ``TestClient/events(_:lastEventID:headers:)``.
public actor TestEventStream {
    /// The status and the fields that it began with.
    public nonisolated let head: ResponseHead
    /// The connection, to end it or to have its network go wrong.
    public nonisolated let connection: TestConnection
    private var parser: EventStreamParser
    private var piece: [UInt8] = []
    private var position = 0

    init(_ head: ResponseHead, _ connection: TestConnection, lastEventID: String?) {
        self.head = head
        self.connection = connection
        parser = EventStreamParser(lastEventID: lastEventID ?? "")
    }

    /// Waits for the next event, comment or time to wait.
    ///
    /// - Returns: what has come; `nil` at the end of the stream.
    /// - Throws: `EventStreamError` beyond 1 MiB for an event; `SocketError` or `HTTPProtocolError` when the stream was cut.
    public func next() async throws -> EventStreamItem? {
        while true {
            let bytes = piece
            if let item = try parser.next(bytes.span, from: &position) { return item }
            position = 0
            piece = []
            guard let more = try await connection.piece() else { return nil }
            piece = more
        }
    }

    /// Waits for the next event, and passes over comments and times to wait.
    ///
    /// - Returns: its data; `nil` at the end of the stream.
    /// - Throws: as ``next()``.
    public func nextData() async throws -> String? {
        while let item = try await next() {
            if case .event(_, let data, _) = item { return data }
        }
        return nil
    }

    /// What to name when connecting again; empty before the first event with an id.
    public var lastEventID: String { parser.lastEventID }

    /// Closes the connection at once, as a page does that is left: what the server still sends is answered with a reset.
    public nonisolated func close() async {
        await connection.reset()
    }
}

extension TestClient {
    /// Asks for an event stream, over a connection of its own.
    ///
    /// - Parameters:
    ///   - path: the path, with a query if there is one.
    ///   - lastEventID: the last event that was seen, when it reconnects. Default: none.
    ///   - headers: further fields.
    /// - Returns: the stream, whatever its status is.
    /// - Throws: as ``request(_:_:headers:body:)``.
    public func events(
        _ path: String,
        lastEventID: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> TestEventStream {
        var headers = headers
        headers[.accept] = "text/event-stream"
        if let name = HTTPField.Name("Last-Event-ID"), let lastEventID { headers[name] = lastEventID }
        let connection = await connect()
        try await connection.send(.get, path, headers: headers)
        return TestEventStream(try await connection.head(), connection, lastEventID: lastEventID)
    }
}
