// A client that sends datagrams to UDP port 7007 and prints what comes back, or that nothing does.
import DuplexSockets

let socket = try await UDPSocket.connect(to: .host("localhost", port: 7007))
for number in 1...3 {
    do {
        try await socket.send("hello \(number)")
        let answer = try await socket.receive(timeout: .seconds(1))
        print(answer.text ?? "\(answer.bytes.count) bytes")
    } catch let error as SocketError {
        print("no answer to \(number): \(error.message)")
    }
}
await socket.close()
