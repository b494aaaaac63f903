// A test of a timeout that takes no time, and of a peer that breaks the protocol.
import DuplexSockets
import DuplexTesting
import DuplexWebSockets
import DuplexWire

// A loop with a manual clock.
try await TestLoop.run { loop in
    let pair = await SocketPair(on: loop.group)
    let line = await loop.begin { try await pair.server.readLine(timeout: .seconds(20)) }
    await loop.advance(by: .seconds(20))
    do {
        print("a line:", try await line.value ?? "none")
    } catch let error as SocketError {
        print("the read ended:", error.code)
    }
}

// A WebSocket, and a scripted peer.
let peer = await ScriptedPeer(of: .client)
try await peer.socket.send("hi")
try await peer.expect(.text("hi"))
try await peer.send(raw: [0x83, 0x00])
try await peer.expectClose(1_002)
await peer.close()
print("the peer was refused")
