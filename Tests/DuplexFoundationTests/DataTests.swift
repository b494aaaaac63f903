// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexSockets
import DuplexTesting
import DuplexTopics
import DuplexWebSockets
import DuplexWire
import Foundation
import Testing

@Suite("Bytes as Data")
struct DataTests {
    /// A part of other data, whose indices don't begin at 0.
    private static var data: Data { Data([9, 9, 0, 1, 255, 10]).dropFirst(2) }
    private static let bytes: [UInt8] = [0, 1, 255, 10]

    @Test("A message is made of data and has some, a text's in UTF-8")
    func messages() {
        #expect(Message(Self.data) == .binary(Self.bytes))
        #expect(Message.binary(Self.bytes).data == Self.data)
        #expect(Message.text("ä").data == Data([0xC3, 0xA4]))
    }

    @Test("A literal is sent as an array, as without this product")
    func literals() async throws {
        try await TestLoop.run { loop in
            let pair = await WebSocketPair(on: loop.group)
            try await pair.client.send([1, 2])
            try await pair.client.send(Self.data)
            #expect(try await pair.server.receive() == .binary([1, 2]))
            #expect(try await pair.server.receive() == .binary(Self.bytes))
            await pair.client.close()
        }
    }

    @Test("A socket writes data, and reads it by count, up to a delimiter and as it comes")
    func sockets() async throws {
        try await TestLoop.run { loop in
            let pair = await SocketPair(on: loop.group)
            try await pair.client.write(Self.data)
            #expect(try await pair.server.readData(exactly: 2) == Data([0, 1]))
            #expect(try await pair.server.readData(until: Data([10])) == Data([255, 10]))
            try await pair.client.write(Data([5]))
            #expect(try await pair.server.readData(upTo: 9) == Data([5]))
            await pair.client.finishWriting()
            #expect(try await pair.server.readData() == nil)
            #expect(try await pair.server.readData(until: Data([10])) == nil)
            await pair.client.reset()
            await pair.server.reset()
        }
    }

    @Test("Slices and other collections go out as arrays do: on sockets, in messages, pieces and responses")
    func collections() async throws {
        let slice = ([9] + Self.bytes + [9])[1...4]
        try await TestLoop.run { loop in
            let streams = await SocketPair(on: loop.group)
            try await streams.client.write(slice)
            try await streams.client.write(repeatElement(7, count: 2))
            #expect(try await streams.server.read(exactly: 6) == Self.bytes + [7, 7])
            await streams.client.reset()
            await streams.server.reset()
            let pair = await WebSocketPair(on: loop.group)
            try await pair.client.send(slice)
            try await pair.client.send(.binary) { writer in
                try await writer.write(slice)
                try await writer.write(repeatElement(7, count: 2))
            }
            #expect(try await pair.server.receive() == .binary(Self.bytes))
            #expect(try await pair.server.receive() == .binary(Self.bytes + [7, 7]))
            await pair.client.close()
        }
        var server = WebServer(port: 0)
        server.get("/") { _ in Response(type: "image/png") { writer in try await writer.write(slice) } }
        try await server.test { client async throws in
            #expect(try await client.get("/").body == Self.bytes)
        }
    }

    @Test("A datagram carries data there and back")
    func datagrams() async throws {
        let server = try await UDPSocket.bind(.loopback, families: .ipv4)
        let client = try await UDPSocket.connect(to: .address(server.localAddress))
        try await client.send(Self.data)
        let received = try await server.receive()
        #expect(received.data == Self.data)
        try await server.send(received.reply(Data([1])))
        #expect(try await client.receive().data == Data([1]))
        try await server.send(Data([2]), to: client.localAddress)
        #expect(try await client.receive().bytes == [2])
        #expect(Datagram(Self.data, to: server.localAddress) == Datagram(Self.bytes, to: server.localAddress))
        await client.close()
        await server.close()
    }

    @Test("The body of a request is data, within its limit, and so is that of a response")
    func bodies() async throws {
        var server = WebServer(port: 0)
        server.post("/") { request in
            Response(.created, type: "image/png", body: try await request.data(limit: 4))
        }
        try await server.test { client async throws in
            let answer = try await client.post("/", body: Self.bytes)
            #expect(answer.status == .created && answer.headers[.contentType] == "image/png")
            #expect(answer.body == Self.bytes)
            #expect(try await client.post("/", body: Self.bytes + [1]).status == .contentTooLarge)
        }
    }

    @Test("Pieces of a response and of a message are data, and so are messages of a topic")
    func pieces() async throws {
        let topics = Topics()
        var server = WebServer(port: 0)
        server.get("/") { _ in Response(.ok) { writer in try await writer.write(Self.data) } }
        server.webSocket("/pieces") { socket in
            try await socket.send(.binary) { writer in
                try await writer.write(Data([7]))
                try await writer.write(Self.data)
            }
        }
        server.webSocket("/topic") { socket in
            try socket.subscribe(to: topics["a"])
            topics["a"].publish(Self.data)
            for try await _ in socket.messages {}
        }
        try await server.test { client async throws in
            #expect(try await client.get("/").body == Self.bytes)
            let pieces = try await client.webSocket("/pieces")
            #expect(try await pieces.receive() == .binary([7] + Self.bytes))
            let subscriber = try await client.webSocket("/topic")
            #expect(try await subscriber.receive() == .binary(Self.bytes))
            await subscriber.close()
        }
    }

    @Test("An identity is read from data, as PEM, and what is none is an error")
    func identities() throws {
        let made = try TLSIdentity.selfSigned(for: ["localhost"])
        let certificates = Data(made.certificatesPEM.utf8)
        let key = Data(made.keyPEM.utf8)
        let read = try TLSIdentity.pem(certificates: certificates, key: key)
        #expect(read.certificates.map(\.der) == made.certificates.map(\.der))
        #expect(throws: SocketError.self) { try TLSIdentity.pem(certificates: key, key: certificates) }
        #expect(throws: SocketError.self) { try TLSIdentity.pkcs12(Self.data, password: "") }
    }

    @Test("A point in time is a date", arguments: [0, -1, 1_700_000_000, 253_402_300_799])
    func dates(seconds: Int64) {
        #expect(Date(UnixTime(seconds: seconds)).timeIntervalSince1970 == Double(seconds))
    }
}
