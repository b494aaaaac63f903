// A chat controller that came over from SocketRocket: it has state, and lives on the main actor.
import Dispatch
import DuplexDelegates
import DuplexWebSockets

@MainActor
final class ChatController: @MainActor WebSocketDelegate {
    private var socket: DelegatedWebSocket?
    private var messages: [String] = []
    private var title = "" { didSet { print(title) } }

    func reconnect() {
        socket?.delegate = nil
        socket?.close()
        title = "Opening connection…"
        socket = DelegatedWebSocket(url: "ws://localhost:8080/echo", delegate: self)
        socket?.open()
    }

    func send(_ text: String) throws { try socket?.send(text) }
    func webSocketDidOpen(_ webSocket: DelegatedWebSocket) { title = "Connected!" }
    func webSocket(_ webSocket: DelegatedWebSocket, didReceiveText text: String) { messages.append(text) }
    func webSocket(_ webSocket: DelegatedWebSocket, didCloseWith report: CloseReport) { ended("\(report)") }
    func webSocket(_ webSocket: DelegatedWebSocket, didFailWith error: WebSocketError) { ended(error.message) }

    private func ended(_ why: String) { (title, socket) = (why, nil) }
}

let controller = ChatController()
controller.reconnect()
dispatchMain()
