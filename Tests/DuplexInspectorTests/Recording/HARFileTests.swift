// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexSockets
import DuplexWire
import Foundation
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("HTTP archives")
struct HARFileTests {
    // MARK: Written and read

    @Test("A request comes back as it was written")
    func exchange() throws {
        let exchange = try Sample.exchange()
        let read = try #require(HARFile.read(HARFile.write(Recording(exchanges: [exchange]))).recording.exchanges.first)
        #expect(read.began == exchange.began)
        #expect([read.method, read.url, read.version, read.reason] == ["POST", exchange.url, "HTTP/1.1", "Created"])
        #expect(read.status == 201)
        #expect(read.requestHeaders == exchange.requestHeaders)
        #expect(read.responseHeaders == exchange.responseHeaders)
        #expect(read.requestBody == exchange.requestBody)
        #expect(read.responseBody == exchange.responseBody)
        #expect(read.durations == exchange.durations)
        #expect(read.route == "/orders")
        #expect(read.isClient)
        #expect(read.server == (try SocketAddress("::1", port: 80)))
    }

    @Test("A WebSocket comes back with its messages, whole, and its control frames")
    func connection() throws {
        let connection = try Sample.connection()
        let read = try #require(
            HARFile.read(HARFile.write(Recording(connections: [connection]))).recording.connections.first
        )
        var assembly = MessageAssembly()
        let messages = connection.frames.compactMap { assembly.add($0) }
        #expect(read.frames.map(\.payload) == messages.map(\.payload))
        #expect(read.frames.map(\.opcode) == messages.map(\.opcode))
        #expect(read.frames.map(\.isOutgoing) == messages.map(\.isOutgoing))
        #expect(read.frames.map(\.time) == messages.map(\.time))
        #expect([read.url, read.subprotocol] == [connection.url, "chat"])
        #expect(read.requestHeaders == connection.requestHeaders)
        #expect(read.closeCode == 1_000)
        #expect(read.closeReason == "bye")
        #expect(read.began == connection.began)
        #expect(read.ended == connection.ended)
        #expect(read.isClient && !read.isSecure)
    }

    @Test("What a server sent is what the client has received")
    func serverSide() throws {
        var connection = try Sample.connection()
        connection.isClient = false
        connection.ended = nil
        let read = try #require(
            HARFile.read(HARFile.write(Recording(connections: [connection]))).recording.connections.first
        )
        #expect(read.frames.first?.isOutgoing == false)
        #expect(read.isClient)
        #expect(read.ended == nil)
    }

    @Test("Bytes that aren't text, and bodies that were cut, come back")
    func bodies() throws {
        var exchange = try Sample.exchange()
        exchange.requestBody = RecordedBytes([0xFF, 0x00, 0x61], of: 3)
        exchange.responseBody = RecordedBytes([0xC3], of: 1_000)
        let read = try #require(HARFile.read(HARFile.write(Recording(exchanges: [exchange]))).recording.exchanges.first)
        #expect(read.requestBody == exchange.requestBody)
        #expect(read.responseBody == exchange.responseBody)
        var connection = try Sample.connection()
        connection.frames = [Sample.frame("abc", .text)]
        connection.frames[0].payload.size = 5_000
        let frame = try #require(
            HARFile.read(HARFile.write(Recording(connections: [connection]))).recording.connections.first?.frames.first
        )
        #expect(frame.payload == connection.frames[0].payload)
    }

    @Test("Entries are in the order of their times")
    func order() throws {
        var late = try Sample.exchange()
        late.began = Sample.began + 100
        let archive = try HARFile.write(Recording(exchanges: [late], connections: [Sample.connection()]))
        let text = String(decoding: archive, as: UTF8.self)
        let (socket, fetch) = (text.firstRange(of: #""websocket""#), text.firstRange(of: #""fetch""#))
        #expect(try #require(socket).lowerBound < #require(fetch).lowerBound)
    }

    // MARK: Of others

    @Test("Little is needed of an entry")
    func little() throws {
        let reading = try HARFile.read(archive(#"{"request":{"method":"GET","url":"http://a/"}}"#))
        let exchange = try #require(reading.recording.exchanges.first)
        #expect(reading.skipped == 0)
        #expect([exchange.method, exchange.url] == ["GET", "http://a/"])
        #expect(exchange.status == 0)
        #expect(exchange.began == 0)
        #expect(exchange.durations.total == 0)
    }

    @Test("An entry that can't be read is left out, and counted")
    func skips() throws {
        let good = #"{"request":{"method":"GET","url":"http://a/"}}"#
        let reading = try HARFile.read(archive(#"null,[],{},{"request":{"method":1,"url":2}},"# + good))
        #expect(reading.skipped == 4)
        #expect(reading.recording.exchanges.count == 1)
    }

    @Test("Values of wrong types are taken as unknown")
    func types() throws {
        let entry = """
            {"startedDateTime":5,"time":"12.5","serverIPAddress":"[::1]","connection":{},"timings":{"send":-1,"wait":null},
             "request":{"method":"POST","url":"http://a/","headers":[{"name":":path","value":"/"},{"name":"A","value":"1"},
             7],"postData":{"params":[{"name":"a b","value":"1&2"},{"name":"c"}]}},
             "response":{"status":"204","statusText":"x","content":{"text":"aGk=","encoding":"base64","size":1e300}}}
            """
        let exchange = try #require(HARFile.read(archive(entry)).recording.exchanges.first)
        #expect(exchange.status == 204)
        #expect(exchange.requestHeaders.count == 1)
        #expect(exchange.requestBody.bytes == Array("a%20b=1%262&c=".utf8))
        #expect(exchange.responseBody == RecordedBytes(Array("hi".utf8)))
        #expect(exchange.durations == RecordedExchange.Durations())
        #expect(exchange.peer == (try SocketAddress("::1", port: 80)))
    }

    @Test(
        "Base64 is read without padding, with bits after the last byte, and in lines",
        arguments: ["aGk", "aGl=", "aG\\r\\nk=", "a G k"]
    )
    func lenient(text: String) throws {
        let entry = """
            {"startedDateTime":5,"request":{"method":"GET","url":"http://a/"},
             "response":{"status":200,"content":{"text":"\(text)","encoding":"base64"}}}
            """
        let exchange = try #require(HARFile.read(archive(entry)).recording.exchanges.first)
        #expect(exchange.responseBody == RecordedBytes(Array("hi".utf8)))
    }

    @Test("Messages are read as browsers and proxies write them")
    func messages() throws {
        let entry = """
            {"startedDateTime":"2026-11-23T18:30:00.000+01:00","time":10,
             "request":{"method":"GET","url":"wss://a/"},"response":{"status":101},"_resourceType":"websocket",
             "_webSocketMessages":[{"type":"send","time":1795455000.5,"opcode":1,"data":"hi"},
             {"type":"receive","time":1795455000500,"opcode":2,"data":"AP8="},
             {"type":"receive","time":1795455000500000,"opcode":2,"data":"not base64!"},{"type":"receive","data":"x"},{}]}
            """
        let connection = try #require(HARFile.read(archive(entry)).recording.connections.first)
        #expect(connection.isSecure)
        #expect(connection.frames.map(\.isOutgoing) == [true, false, false, false])
        #expect(
            connection.frames.map(\.time) == [Sample.began + 0.5, Sample.began + 0.5, Sample.began + 0.5, Sample.began]
        )
        #expect(connection.frames.map(\.payload.bytes).prefix(2) == [Array("hi".utf8), [0, 0xFF]])
        #expect(connection.frames.map(\.opcode) == [.text, .binary, .binary, .text])
        #expect(connection.frames.map(\.wireLength).first == 8)
        #expect(connection.ended == Sample.began + 0.5)
    }

    @Test("Errors among the messages of a WebSocket are no frames, nor are opcodes that no frame has")
    func messagesThatAreNone() throws {
        let entry = """
            {"request":{"method":"GET","url":"wss://a/"},"_resourceType":"websocket","_error":"net::ERR_FAILED",
             "_webSocketMessages":[{"type":"receive","time":1795455000.5,"opcode":1,"data":"hi"},
             {"type":"error","time":1795455000.75,"opcode":-1,"data":"gone"},
             {"type":"receive","opcode":-1,"data":"a"},{"type":"send","opcode":16,"data":"b"},
             {"type":"send","opcode":300,"data":"c"},{"type":"send","opcode":2.5,"data":"d"}]}
            """
        let connection = try #require(HARFile.read(archive(entry)).recording.connections.first)
        #expect(connection.frames.map(\.payload.bytes) == [Array("hi".utf8)])
        #expect(
            connection.errors == [
                RecordedConnection.Fault(time: Sample.began + 0.75, message: "gone"),
                RecordedConnection.Fault(time: 0, message: "net::ERR_FAILED"),
            ]
        )
        let again = try HARFile.read(HARFile.write(Recording(connections: [connection]))).recording.connections.first
        #expect(again?.errors == connection.errors && again?.frames == connection.frames)
    }

    @Test("A byte order mark is passed over")
    func mark() throws {
        #expect(try HARFile.read([0xEF, 0xBB, 0xBF] + archive("")) == HARFile.Reading())
    }

    // MARK: Hostile

    @Test(
        "What is no archive is refused with a sentence",
        arguments: [
            "", "hello", "{", "[]", "{}", #"{"log":{}}"#, #"{"log":{"entries":{}}}"#, "\u{0}", "nan", #"{"log":null}"#,
        ]
    )
    func refuses(text: String) {
        let error = #expect(throws: HARFile.Refusal.self) { try HARFile.read(Array(text.utf8)) }
        #expect(error?.description.hasSuffix(".") == true)
    }

    @Test("What is nested deeply is refused", arguments: ["[", "{\"a\":"])
    func deep(opening: String) {
        let deep = Array(String(repeating: opening, count: 200_000).utf8)
        #expect(throws: HARFile.Refusal.self) { try HARFile.read(deep) }
    }

    @Test("What is large is refused before it is read")
    func large() {
        let error = #expect(throws: HARFile.Refusal.self) {
            try HARFile.read([UInt8](repeating: 0x20, count: HARFile.largest.bytes + 1))
        }
        #expect(error?.description == "The file has more than 32 MiB.")
    }

    @Test(
        "No number does harm",
        arguments: ["1e308", "-1e308", "9223372036854775808", "-0.0", "\"NaN\"", "\"inf\"", "0.5", "null"]
    )
    func numbers(number: String) throws {
        let entry = """
            {"time":\(number),"request":{"method":"GET","url":"ws://a/"},"response":{"status":\(number),
             "content":{"size":\(number)}},"timings":{"send":\(number),"wait":\(number),"receive":\(number)},
             "_closeCode":\(number),"_webSocketMessages":[{"type":"send","time":\(number),"opcode":\(number),"data":"",
             "_size":\(number)}]}
            """
        let recording = try HARFile.read(archive(entry)).recording
        #expect(recording.connections.count == 1)
        #expect(try HARFile.read(HARFile.write(recording)).recording.connections.count == 1)
        #expect(!PcapngFile.write(recording).isEmpty)
    }

    private func archive(_ entries: String) -> [UInt8] { Array(#"{"log":{"entries":[\#(entries)]}}"#.utf8) }
}
