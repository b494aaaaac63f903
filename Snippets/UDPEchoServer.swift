// A server that sends every datagram back to who sent it, on UDP port 7007.
import DuplexSockets

let socket = try await UDPSocket.bind(port: 7007)
print("receiving on \(socket.localAddress)")
for try await datagram in socket.datagrams {
    print("\(datagram.peer?.description ?? "?"): \(datagram.text ?? "\(datagram.bytes.count) bytes")")
    do {
        try await socket.send(datagram.reply(datagram.bytes))
    } catch let error as SocketError {
        print("no answer went out: \(error.message)")
    }
}
