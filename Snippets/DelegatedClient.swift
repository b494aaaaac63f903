// A WebSocket client for code that isn't async: a delegate gets its events, on a queue.
import Dispatch
import DuplexDelegates
import DuplexWebSockets

final class Printer: WebSocketDelegate, Sendable {
    let hasEnded = DispatchSemaphore(value: 0)

    func webSocketDidOpen(_ socket: DelegatedWebSocket) { try? socket.send("hello") }

    func webSocket(_ socket: DelegatedWebSocket, didReceive message: Message) {
        print(message)
        socket.close()
    }

    func webSocket(_ socket: DelegatedWebSocket, didCloseWith report: CloseReport) { end(report) }

    func webSocket(_ socket: DelegatedWebSocket, didFailWith error: WebSocketError) { end(error) }

    private func end(_ why: some CustomStringConvertible) {
        print(why)
        hasEnded.signal()
    }
}

let printer = Printer()
DelegatedWebSocket(url: "ws://localhost:8080/echo", delegate: printer, queue: .global()).open()
printer.hasEnded.wait()
