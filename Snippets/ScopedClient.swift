// A WebSocket client that is open as long as a closure runs, and closed on every way out of it.
import DuplexWebSockets

try await WebSocket.withConnection(to: "ws://localhost:8080/echo") { socket in
    try await socket.send("hello")
    print(try await socket.receive())
    print("round trip: \(try await socket.ping(timeout: .seconds(5)))")
}
