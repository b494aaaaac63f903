// A WebSocket client that does what one with events does: opened, text, bytes, closed in order, failed.
import DuplexWebSockets

var options = WebSocketOptions()
options.subprotocols = ["chat"]
options.authentication = .bearer { "secret" }
do {
    let socket = try await WebSocket.connect(to: "ws://localhost:8080/echo", options: options)
    print("connected, subprotocol: \(socket.subprotocol ?? "none")")
    try await socket.send("hello")
    for try await message in socket.messages {
        switch message {
        case .text(let text): print("text: \(text)")
        case .binary(let bytes): print("data: \(bytes.count) bytes")
        }
        await socket.close()
    }
    print("disconnected: \(await socket.closeReport)")
} catch let error as WebSocketError {
    // Refused, with what the server answered; lost; or somebody broke the rules.
    print("error: \(error)")
}
