// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("Secrets are taken out")
struct SecretMaskTests {
    let mask = SecretMask(["Token", "X-Key"])

    @Test("Fields with credentials are masked always, and those that the app names")
    func headers() throws {
        var headers: HTTPFields = [
            .authorization: "Bearer abc", .cookie: "a=1; b=2", .setCookie: "a=1; Path=/", .accept: "*/*",
            .proxyAuthorization: "Basic xyz",
        ]
        headers[try #require(HTTPField.Name("x-key"))] = "k"
        let masked = mask.masked(headers)
        #expect(masked[.authorization] == "Bearer [masked]")
        #expect(masked[.proxyAuthorization] == "Basic [masked]")
        #expect(masked[.cookie] == "[masked]")
        #expect(masked[.setCookie] == "[masked]")
        #expect(masked[.accept] == "*/*")
        #expect(masked[try #require(HTTPField.Name("X-Key"))] == "[masked]")
        #expect(masked.count == headers.count)
        #expect(SecretMask().masked([.authorization: "abc"])[.authorization] == "[masked]")
    }

    @Test("Fields that are URLs are masked as such")
    func fieldsOfURLs() {
        let url = "http://ada:pw@h/p?token=S3CRET&x=1"
        for name in [HTTPField.Name.referer, .location, .contentLocation] {
            #expect(mask.masked([name: url])[name] == "http://ada:[masked]@h/p?token=[masked]&x=1")
        }
    }

    @Test(
        "Passwords and items of queries are masked in URLs",
        arguments: [
            ("ws://a/b?token=1&x=2#f", "ws://a/b?token=[masked]&x=2#f"), ("/b?TOKEN=1", "/b?TOKEN=[masked]"),
            ("/b?t%6Fken=1&token", "/b?t%6Fken=[masked]&token"), ("http://ada:pw@h/p", "http://ada:[masked]@h/p"),
            ("http://ada:p@w@h/p?x", "http://ada:[masked]@h/p?x"), ("http://h/a@b:c", "http://h/a@b:c"), ("", ""),
            ("http://h/#token=1&a=2", "http://h/#token=[masked]&a=2"), ("/p?a=1#token=1", "/p?a=1#token=[masked]"),
            ("//ada:pw@h/p", "//ada:[masked]@h/p"), ("#/a?token=1", "#/a?token=[masked]"),
        ]
    )
    func urls(url: String, expected: String) {
        #expect(mask.masked(url: url) == expected)
    }

    @Test("Bodies are masked as JSON, and as forms where they are such")
    func bodies() {
        let form = mask.masked(body: body("a=1&token=2"), type: "application/x-www-form-urlencoded; charset=utf-8")
        #expect(String(decoding: form.bytes, as: UTF8.self) == "a=1&token=[masked]")
        #expect(!form.isCut)
        let json = mask.masked(body: body(#"{"token":1}"#), type: nil)
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"token":"[masked]"}"#)
        let cut = mask.masked(body: RecordedBytes(Array(#"{"token":1,"#.utf8), of: 12), type: "application/json")
        #expect(cut.isCut)
    }

    @Test("The token of an inspector of the process is masked in all parts, whatever the app names")
    func inspectors() {
        let token = RandomText.hexadecimal()
        let secret = InspectorSecret([token])
        var exchange = RecordedExchange(id: 1, began: 0, method: "POST", url: "http://a/?x=\(token)")
        exchange.requestHeaders = [.referer: "http://a/?x=\(token)", .accept: "x \(token)"]
        exchange.requestBody = body("say \(token) twice: \(token)")
        exchange.responseBody = body("\(token)")
        var connection = RecordedConnection(id: 1, isClient: true, url: "ws://a/\(token)", isSecure: false, began: 0)
        let payload = RecordedBytes(Array("{\"a\":\"\(token)\"}".utf8))
        (exchange.error, connection.errors) = (token, [RecordedConnection.Fault(time: 0, message: token)])
        connection.frames = [
            RecordedFrame(number: 0, time: 0, isOutgoing: true, opcode: .text, wireLength: 50, payload: payload)
        ]
        for mask in [SecretMask(), SecretMask(["other"])] {
            let masked = mask.masked(Recording(exchanges: [exchange], connections: [connection]))
            let bytes =
                masked.exchanges[0].requestBody.bytes + masked.exchanges[0].responseBody.bytes
                + masked.connections[0].frames[0].payload.bytes
            #expect(!"\(masked)".contains(token) && !String(decoding: bytes, as: UTF8.self).contains(token))
            #expect(!masked.connections[0].frames[0].payload.isCut)
        }
        withExtendedLifetime(secret) {}
    }

    @Test("Everything of an exchange is masked")
    func exchange() {
        var exchange = RecordedExchange(id: 1, began: 0, method: "POST", url: "http://a/?token=S3CRET")
        exchange.requestHeaders = [.authorization: "S3CRET", .contentType: "application/x-www-form-urlencoded"]
        exchange.requestBody = body("token=S3CRET")
        exchange.responseHeaders = [.setCookie: "S3CRET"]
        exchange.responseBody = body(#"{"token":"S3CRET"}"#)
        exchange.error = "http://a/?token=S3CRET can't be reached"
        let masked = mask.masked(Recording(exchanges: [exchange])).exchanges
        #expect(masked.count == 1)
        for exchange in masked {
            let whole = "\(exchange.url) \(exchange.requestHeaders) \(exchange.responseHeaders) \(exchange.error ?? "")"
            #expect(exchange.error == "http://a/?token=[masked] can't be reached")
            let bodies = String(decoding: exchange.requestBody.bytes + exchange.responseBody.bytes, as: UTF8.self)
            #expect(!(whole + bodies).contains("S3CRET"))
            #expect(bodies == #"token=[masked]{"token":"[masked]"}"#)
        }
    }

    @Test("A secret is masked that lies in two fragments, with frames of the other side and pings between them")
    func fragments() {
        var connection = RecordedConnection(id: 1, isClient: true, url: "ws://a/?token=1", isSecure: false, began: 0)
        connection.frames = [
            frame(#"{"tok"#, .text, isFinal: false), frame(#""token":5"#, .text, isOutgoing: false),
            frame("token", .ping), frame(#"en":"S3C"#, .continuation, isFinal: false),
            frame(#"RET","a":1}"#, .continuation),
        ]
        connection.errors = [RecordedConnection.Fault(time: 0, message: "“ws://a/?token=1” failed")]
        let masked = mask.masked(connection)
        #expect(
            masked.frames.map { String(decoding: $0.payload.bytes, as: UTF8.self) }
                == [#"{"tok"#, #""token":"[masked]""#, "token", #"en":"[masked]""#, #","a":1}"#]
        )
        #expect(masked.url == "ws://a/?token=[masked]")
        #expect(masked.errors.map(\.message) == ["“ws://a/?token=[masked]” failed"])
    }

    @Test("What follows a fragment that was cut isn't shown, for it may be a secret's; the next message is")
    func cutFragments() {
        var connection = RecordedConnection(id: 1, isClient: true, url: "ws://a/", isSecure: false, began: 0)
        var cut = frame(#"{"a":1"#, .text, isFinal: false)
        cut.payload.size = 100
        connection.frames = [cut, frame("S3CRET", .continuation), frame("shown", .text)]
        let frames = mask.masked(connection).frames
        #expect(frames.map(\.payload.bytes) == [Array(#"{"a":1"#.utf8), [], Array("shown".utf8)])
        #expect(frames.map(\.payload.size) == [100, 6, 5])
    }

    @Test("What is compressed, and nobody has it plain, is left out where the app names secrets")
    func coded() {
        var packed = body("\u{1F}packed S3CRET")
        packed.isCoded = true
        var exchange = RecordedExchange(id: 1, began: 0, method: "POST", url: "http://a/")
        (exchange.requestBody, exchange.responseBody) = (packed, packed)
        var connection = RecordedConnection(id: 1, isClient: true, url: "ws://a/", isSecure: false, began: 0)
        var first = frame("", .text)
        first.payload = packed
        connection.frames = [first, frame("plain", .text)]
        let masked = mask.masked(Recording(exchanges: [exchange], connections: [connection]))
        let all = [
            masked.exchanges[0].requestBody, masked.exchanges[0].responseBody, masked.connections[0].frames[0].payload,
        ]
        #expect(all.allSatisfy { $0.bytes.isEmpty && $0.size == packed.size })
        #expect(masked.connections[0].frames[1].payload.bytes == Array("plain".utf8))
        let open = SecretMask().masked(Recording(exchanges: [exchange], connections: [connection]))
        #expect(open.exchanges[0].requestBody.bytes == packed.bytes)
        #expect(open.connections[0].frames[0].payload.bytes == packed.bytes)
    }

    @Test("Some frames are masked as they are among all, wherever they begin")
    func pages() {
        var random = SeededGenerator(seed: 3)
        let pieces = [#"{"tok"#, #"en":"#, #""S3C"#, #"RET"}"#, #"{"token":1}"#, "x", #"",""#]
        for _ in 0..<300 {
            var isOpen = [true: false, false: false]
            var frames: [RecordedFrame] = []
            for number in 0..<Int.random(in: 1...12, using: &random) {
                let isOutgoing = Bool.random(using: &random)
                let isControl = Int.random(in: 0...5, using: &random) == 0
                let isFinal = isControl || Bool.random(using: &random)
                let opcode: Opcode = isControl ? .ping : isOpen[isOutgoing] == true ? .continuation : .text
                let text = pieces.randomElement(using: &random) ?? ""
                var one = frame(text, opcode, isOutgoing: isOutgoing, isFinal: isFinal)
                one.number = UInt64(number)
                if Int.random(in: 0...7, using: &random) == 0 { one.payload.size += 1 }
                if !isControl { isOpen[isOutgoing] = !isFinal }
                frames.append(one)
            }
            // The first may be gone.
            frames.removeFirst(Int.random(in: 0..<frames.count, using: &random))
            var connection = RecordedConnection(id: 1, isClient: true, url: "ws://a/", isSecure: false, began: 0)
            connection.frames = frames
            let all = mask.masked(connection).frames
            for start in 0...frames.count {
                for end in start...frames.count {
                    #expect(mask.masked(frames, start..<end) == Array(all[start..<end]))
                }
            }
        }
    }

    private func body(_ text: String) -> RecordedBytes { RecordedBytes(Array(text.utf8)) }

    private func frame(
        _ text: String,
        _ opcode: Opcode,
        isOutgoing: Bool = true,
        isFinal: Bool = true
    ) -> RecordedFrame {
        let payload = body(text)
        return RecordedFrame(
            number: 0,
            time: 0,
            isOutgoing: isOutgoing,
            opcode: opcode,
            isFinal: isFinal,
            wireLength: payload.size + 2,
            payload: payload
        )
    }
}

@Suite("Members of JSON, masked")
struct JSONMaskTests {
    static let cases = [
        (#"{"user":"ada","pin":"1234"}"#, #"{"user":"ada","pin":"[masked]"}"#),
        (#"{"pin" : 1234 , "a":1}"#, #"{"pin" : "[masked]" , "a":1}"#),
        (#"{"pin":1234}"#, #"{"pin":"[masked]"}"#),
        (#"{"pin":"a\"b","x":1}"#, #"{"pin":"[masked]","x":1}"#),
        (#"{"pin":"a\\","x":1}"#, #"{"pin":"[masked]","x":1}"#),
        (#"{"pin":{"a":"}","b":[1,{"c":"]\""}]},"x":1}"#, #"{"pin":"[masked]","x":1}"#),
        (#"{"PIN":true}"#, #"{"PIN":"[masked]"}"#),
        (#"{"p\u0069n":true}"#, #"{"p\u0069n":"[masked]"}"#),
        (#"[{"pin":[]},{"pin":null}]"#, #"[{"pin":"[masked]"},{"pin":"[masked]"}]"#),
        (#"{"say":"pin","pins":1,"x":"\"pin\":2"}"#, #"{"say":"pin","pins":1,"x":"\"pin\":2"}"#),
        (#"["pin","pin"]"#, #"["pin","pin"]"#), (#"{"pin":"12"#, #"{"pin":"[masked]""#), ("no JSON", "no JSON"),
        ("", ""),
    ]

    @Test("The values of named members are hidden, and nothing else", arguments: cases)
    func masks(text: String, expected: String) {
        var mask = JSONMask(["pin"])
        #expect(String(decoding: mask.mask(Array(text.utf8)), as: UTF8.self) == expected)
    }

    @Test("Pieces are masked as the whole is, wherever it is split", arguments: cases)
    func pieces(text: String, expected: String) {
        let bytes = Array(text.utf8)
        for split in 0...bytes.count {
            var mask = JSONMask(["pin"])
            let result = mask.mask(Array(bytes[..<split])) + mask.mask(Array(bytes[split...]))
            #expect(String(decoding: result, as: UTF8.self) == expected)
        }
    }

    @Test("Without names nothing is masked")
    func none() {
        var mask = JSONMask([])
        #expect(mask.mask(Array(#"{"pin":1}"#.utf8)) == Array(#"{"pin":1}"#.utf8))
    }
}
