// A server that sends every byte back, on TCP port 7000 of this machine.
import DuplexSockets

let listener = try SocketListener.bind(.tcp(port: 7000))
print("listening on \(listener.localAddress)")
try await listener.serve { socket in
    while let bytes = try await socket.read(timeout: .seconds(60)) {
        try await socket.write(bytes)
    }
}
