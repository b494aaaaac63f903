// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("Secrets are taken out")
struct SecretMaskTests {
    let mask = SecretMask(["Token", "X-Key"])

    @Test("Fields with credentials are masked always, and those that the app names")
    func fields() throws {
        var fields: HTTPFields = [
            .authorization: "Bearer abc", .cookie: "a=1; b=2", .setCookie: "a=1; Path=/", .accept: "*/*",
            .proxyAuthorization: "Basic xyz",
        ]
        fields[try #require(HTTPField.Name("x-key"))] = "k"
        let masked = mask.masked(fields)
        #expect(masked[.authorization] == "Bearer [masked]")
        #expect(masked[.proxyAuthorization] == "Basic [masked]")
        #expect(masked[.cookie] == "[masked]")
        #expect(masked[.setCookie] == "[masked]")
        #expect(masked[.accept] == "*/*")
        #expect(masked[try #require(HTTPField.Name("X-Key"))] == "[masked]")
        #expect(masked.count == fields.count)
        #expect(SecretMask().masked([.authorization: "abc"])[.authorization] == "[masked]")
    }

    @Test(
        "Passwords and items of queries are masked in URLs",
        arguments: [
            ("ws://a/b?token=1&x=2#f", "ws://a/b?token=[masked]&x=2#f"), ("/b?TOKEN=1", "/b?TOKEN=[masked]"),
            ("/b?t%6Fken=1&token", "/b?t%6Fken=[masked]&token"), ("http://ada:pw@h/p", "http://ada:[masked]@h/p"),
            ("http://ada:p@w@h/p?x", "http://ada:[masked]@h/p?x"), ("http://h/a@b:c", "http://h/a@b:c"), ("", ""),
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

    @Test("Everything of an exchange is masked")
    func exchange() {
        var exchange = RecordedExchange(id: 1, began: 0, method: "POST", url: "http://a/?token=S3CRET")
        exchange.requestFields = [.authorization: "S3CRET", .contentType: "application/x-www-form-urlencoded"]
        exchange.requestBody = body("token=S3CRET")
        exchange.responseFields = [.setCookie: "S3CRET"]
        exchange.responseBody = body(#"{"token":"S3CRET"}"#)
        let masked = mask.masked(Recording(exchanges: [exchange])).exchanges
        #expect(masked.count == 1)
        for exchange in masked {
            let whole = "\(exchange.url) \(exchange.requestFields) \(exchange.responseFields)"
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
        let masked = mask.masked(connection)
        #expect(
            masked.frames.map { String(decoding: $0.payload.bytes, as: UTF8.self) }
                == [#"{"tok"#, #""token":"[masked]""#, "token", #"en":"[masked]""#, #","a":1}"#]
        )
        #expect(masked.url == "ws://a/?token=[masked]")
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
