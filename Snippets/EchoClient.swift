// A WebSocket client that says hello and prints what comes back.
import DuplexWebSockets

let socket = try await WebSocket.connect(to: "ws://localhost:8080/echo")
try await socket.send("hello")
for try await message in socket.messages {
    print(message)
    await socket.close()
}
print(await socket.closeReport)
