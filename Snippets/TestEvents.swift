// A feed: its heartbeat, a connection that is lost, and the end.
import DuplexServer
import DuplexTesting

let feed = EventFeed()
var server = WebServer(port: 0)
server.events("/feed", of: feed)

try await server.test { client in
    let page = try await client.events("/feed")
    try feed.publish("one")
    print(try await page.nextData() ?? "the end")

    // Fifteen seconds without an event pass at once.
    await client.clock.advance(by: .seconds(15))
    if case .comment = try await page.next() { print("a comment") }

    let seen = await page.lastEventID
    client.resetConnections()
    try feed.publish("two")
    let again = try await client.events("/feed", lastEventID: seen)
    print(try await again.nextData() ?? "the end")

    feed.finish()
    print(try await again.nextData() ?? "the end")
    print(try await client.get("/feed").status.code)
}
