// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexFoundation
import DuplexServer
import DuplexTestTimes
import DuplexTesting
import DuplexWire
import HTTPTypes
import Testing

@testable import DuplexInspector

@Suite("Requests by the page", .timeLimit(minutes: 1))
struct RequestsRoomTests {
    @Test("The last ones come live, one is had in full or as a command line, and secrets are masked in all of it")
    func requests() async throws {
        var options = InspectorOptions()
        options.secrets = ["X-Key", "pin"]
        var server = WebServer(port: 0)
        server.get("/page") { _ in "<script>" }
        try await InspectorFixture.run(options, server) { fixture async throws in
            let page = try await fixture.live()
            try await page.watch("requests")
            // That there is nothing is told, too: from then on requests are kept.
            #expect(try await page.next().items == [])
            let key = try #require(HTTPField.Name("X-Key"))
            let headers: HTTPFields = [.authorization: "Bearer hidden", .cookie: "a=hidden", key: "hidden"]
            _ = try await fixture.client.get("/page?pin=hidden&a=b", headers: headers)
            let item = try #require(try await page.items(ExchangeJSON.self).first)
            #expect(item.status == 200 && item.route == "/page" && item.responseBody == nil)
            let whole = try await fixture.get("requests/one?id=\(item.id)")
            #expect(try whole.value(ExchangeJSON.self).responseBody?.text == "<script>")
            let command = try await fixture.get("requests/curl?id=\(item.id)")
            let line = try command.value(RequestsRoom.CommandLine.self).command
            #expect(line.contains("curl") && line.contains("/page"))
            let texts = [item.url, whole.text, command.text]
            for text in texts { #expect(!text.contains("hidden"), "\(text)") }
            #expect(try await fixture.get("requests/one?id=0").status == .notFound)
            #expect(try await fixture.get("requests/one").status == .notFound)
        }
    }
}

@Suite struct ExchangeJSONTests {
    @Test("Fields keep their order, and a body that is no text is base64")
    func whole() throws {
        var exchange = RecordedExchange(id: 1, began: 0.5, method: "PUT", url: "http://a/")
        exchange.requestHeaders = [.from: "a", .accept: "b", .accept: "c"]
        exchange.requestBody = RecordedBytes([0xFF], of: 9)
        let whole = ExchangeJSON(whole: exchange)
        #expect(whole.requestHeaders == [["From", "a"], ["Accept", "b"], ["Accept", "c"]])
        #expect(whole.requestBody?.size == 9 && whole.requestBody?.cut == true && whole.requestBody?.data == "/w==")
        let line = try CompactJSON.text(of: ExchangeJSON(line: exchange))
        let text = #"{"began":0.5,"id":1,"method":"PUT","received":9,"sent":0,"status":0,"total":0,"url":"http://a/"}"#
        #expect(line == text)
    }
}
