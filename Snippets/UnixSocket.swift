// A service on a Unix socket that only its owner may use, and a client of it.
import DuplexSockets

let path = "/tmp/greeter.sock"
let listener = try SocketListener.bind(.unix(path, permissions: 0o600))
let service = Task {
    try await listener.serve { socket in
        while let name = try await socket.readLine(timeout: .seconds(10)) {
            try await socket.write("Hello, \(name).\n")
        }
    }
}

let socket = try await Socket.connect(to: .unix(path))
try await socket.write("world\n")
print(try await socket.readLine(timeout: .seconds(10)) ?? "no answer")
await socket.close()

service.cancel()
_ = await service.result
