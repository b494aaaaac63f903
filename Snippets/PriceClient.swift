// A client that stays connected, asks for prices, and reads them as values.
import DuplexFoundation
import DuplexWebSockets

struct Subscription: Codable, Sendable { var symbol: String }
struct Price: Codable, Sendable { var symbol: String, value: Double? }

let client = ReconnectingWebSocket(
    "ws://localhost:8080/echo",
    onOpen: { socket in
        try await socket.send(json: Subscription(symbol: "ACME"))
    }
)
for try await price in client.messages(of: Price.self) {
    print(price.symbol, price.value.map { "\($0)" } ?? "unknown")
}
