// An echo server for code that isn't async, on TCP port 7002 of this machine: delegates get what happens, on a queue.
import Dispatch
import DuplexDelegates
import DuplexSockets

final class Echo: SocketListenerDelegate, SocketDelegate, Sendable {
    private enum Tag {
        static let welcome = 0, echo = 1
    }

    func listener(_ listener: DelegatedListener, didAccept socket: DelegatedSocket) {
        socket.setDelegate(self)
        try? socket.write("Welcome to the echo server\r\n", tag: Tag.welcome)
        readLine(from: socket)
    }

    func socket(_ socket: DelegatedSocket, didRead bytes: [UInt8], tag: Int) {
        try? socket.write(bytes, tag: tag)
        readLine(from: socket)
    }

    func socket(_ socket: DelegatedSocket, didDisconnectWith error: SocketError?) {
        print(error.map { "\($0)" } ?? "disconnected")
    }

    /// Ten seconds, and five more for whoever has begun to type.
    private func readLine(from socket: DelegatedSocket) {
        try? socket.readData(to: "\r\n", limit: 1_000, timeout: .seconds(10), tag: Tag.echo) { elapsed, count in
            count > 0 && elapsed < .seconds(15) ? .seconds(5) : nil
        }
    }
}

let echo = Echo()
let listener = DelegatedListener(delegate: echo, queue: DispatchQueue(label: "echo"))
try listener.listen(on: .tcp(port: 7002))
dispatchMain()
