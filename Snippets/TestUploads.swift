// An upload that is whole, one that is cut, and one that doesn't go on.
import DuplexServer
import DuplexTesting

var server = WebServer(port: 0)
server.post("/files") { request in
    do {
        return "\(try await request.body.collect().count) bytes"
    } catch let error as HTTPProtocolError {
        print("given up: \(error.code)")
        throw error
    }
}

try await server.test { client in
    let whole = await client.connect()
    try await whole.begin(.post, "/files")
    for piece in ["hello, ", "world"] { try await whole.write(piece.utf8) }
    try await whole.finish()
    print(try await whole.response().text)

    let cut = await client.connect()
    try await cut.begin(.post, "/files", headers: [.contentLength: "100"])
    await cut.finishWriting()
    print(try await cut.response().status.code)

    let stalled = await client.connect()
    try await stalled.begin(.post, "/files", headers: [.contentLength: "100"])
    await client.clock.advance(by: .seconds(20))
    print(try await stalled.response().status.code)
}
