// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexServer
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@Suite("Bodies as text")
struct RequestTextTests {
    private func testing(_ body: (TestClient) async throws -> Void) async throws {
        var server = WebServer(port: 0)
        server.post("/text") { request in try await request.text() }
        server.post("/short") { request in try await request.text(limit: 2) }
        server.post("/parts") { request in
            var text = ""
            for try await part in try request.multipart() { text += try await part.text() }
            return text
        }
        try await server.test(body)
    }

    @Test(
        "They are read by the charset of their type, and as UTF-8 where none is named",
        arguments: [
            (nil, Array("ä".utf8)), ("text/plain", Array("ä".utf8)), ("text/plain; charset=UTF-8", Array("ä".utf8)),
            ("text/plain; charset=iso-8859-1", [0xE4]), ("application/xml; charset=windows-1252", [0xE4]),
            ("text/plain; charset=\"utf-16\"", [0xFF, 0xFE, 0xE4, 0x00]),
            ("text/plain; charset=utf-16be", [0x00, 0xE4]),
        ] as [(String?, [UInt8])]
    )
    func reads(type: String?, bytes: [UInt8]) async throws {
        try await testing { client async throws in
            var headers = HTTPFields()
            headers[.contentType] = type
            #expect(try await client.post("/text", headers: headers, body: bytes).text == "ä")
            var parts = Array("--b\r\nContent-Disposition: form-data; name=a\r\n".utf8)
            if let type { parts += Array("Content-Type: \(type)\r\n".utf8) }
            parts += Array("\r\n".utf8) + bytes + Array("\r\n--b--\r\n".utf8)
            let form: HTTPFields = [.contentType: "multipart/form-data; boundary=b"]
            #expect(try await client.post("/parts", headers: form, body: parts).text == "ä")
        }
    }

    @Test("Another charset is answered with 415, what is none of it with 400, what is too long with 413")
    func refuses() async throws {
        try await testing { client async throws in
            let other: HTTPFields = [.contentType: "text/plain; charset=koi8-r"]
            let refused = try await client.post("/text", headers: other, body: "a".utf8)
            #expect(refused.status == .unsupportedMediaType && refused.text.contains("koi8-r"))
            #expect(try await client.post("/text", body: [0xFF]).status == .badRequest)
            #expect(try await client.post("/short", body: "abc".utf8).status == .contentTooLarge)
            #expect(try await client.post("/text").text == "")
        }
    }
}
