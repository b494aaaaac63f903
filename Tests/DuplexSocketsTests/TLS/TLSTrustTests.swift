// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

import DuplexTestTimes
import Synchronization
import Testing

@testable import DuplexSockets

@Suite struct TLSTrustTests {
    /// Why the client of a server with that identity refuses it; `nil` when it doesn't.
    private func refusal(
        of identity: TLSIdentity,
        name: String = "localhost",
        trust: TLSTrust? = nil
    ) throws -> SocketError? {
        // A pair of engines has no loop that could wait for the roots.
        _ = try trust?.system.map { try $0.readNow() }
        let client = try TestCertificates.clientOptions { if let trust { $0.trust = trust } }
        let pair = try EnginePair(client, TLSServerOptions(identity), name: name)
        pair.run()
        #expect(pair.client.isComplete == (pair.client.failure == nil))
        if pair.client.failure != nil { #expect(pair.server.failure != nil) }
        return pair.client.failure
    }

    @Test("What is in order is let in")
    func inOrder() throws {
        #expect(try refusal(of: TestCertificates.server) == nil)
    }

    @Test("Expired: since when")
    func expired() throws {
        let identity = try TestCertificates.issue(["localhost"], from: -7_200, until: -3_600)
        let error = try refusal(of: identity)
        #expect(error?.code == .untrustedPeer)
        let date = identity.certificates[0].notAfter
        #expect(error?.message == "The certificate of “localhost” expired on \(date).")
    }

    @Test("Not valid yet: from when on, and that the clock may be wrong")
    func notYetValid() throws {
        let identity = try TestCertificates.issue(["localhost"], from: 3_600, until: 7_200)
        let date = identity.certificates[0].notBefore
        #expect(try refusal(of: identity)?.message.contains("isn't valid before \(date)") == true)
    }

    @Test("For another host: for which, and for which not")
    func wrongHost() throws {
        let identity = try TestCertificates.issue(["a.test", "b.test"])
        #expect(try refusal(of: identity)?.message == "The certificate is for a.test, b.test, and not for “localhost”.")
        #expect(try refusal(of: identity, trust: TestCertificates.trust.withoutNameCheck()) == nil)
    }

    @Test(
        "A wildcard is one whole label",
        arguments: [
            ("*.example.test", "www.example.test", true), ("*.example.test", "example.test", false),
            ("*.example.test", "a.b.example.test", false), ("w*.example.test", "www.example.test", false),
        ]
    )
    func wildcards(pattern: String, name: String, isRight: Bool) throws {
        let error = try refusal(of: TestCertificates.issue([pattern]), name: name)
        #expect((error == nil) == isRight)
    }

    @Test("A common name isn't the name of a host: the error and its hint say so")
    func commonName() throws {
        var maker = CertificateMaker(names: ["localhost"])
        maker.issuer = try TestCertificates.authority
        maker.hasAlternatives = false
        let error = try refusal(of: try maker.make(validFrom: -60, until: TestCertificates.day))
        #expect(error?.message.hasPrefix("The certificate has a common name “localhost” only, which isn't") == true)
        #expect(error?.hint == "have it issued with the host among its alternative names (subjectAltName)")
    }

    @Test("What is to be done about a certificate that isn't trusted is in the hint")
    func hints() throws {
        let own = try TLSIdentity.selfSigned(for: ["localhost"])
        #expect(try refusal(of: own)?.hint?.contains(".systemRoots.adding(_:)") == true)
        let error = try refusal(of: TestCertificates.issue(["a.test"]))
        #expect(error?.hint?.contains("TLSOptions.serverName") == true)
        #expect(error.map { "\($0)" }?.contains("\n  hint: connect by one of its names") == true)
        let old = try TestCertificates.issue(["localhost"], from: -7_200, until: -3_600)
        #expect(try refusal(of: old)?.hint?.contains("a new one") == true)
    }

    @Test("A trailing dot of a name is no part of it")
    func trailingDot() throws {
        #expect(try refusal(of: TestCertificates.server, name: "localhost.") == nil)
    }

    @Test("An issuer that nobody knows")
    func unknownIssuer() throws {
        let error = try refusal(of: TestCertificates.server, trust: .systemRoots)
        #expect(error?.message.contains("“Duplex test authority” is a root that isn't trusted here") == true)
        var own = try TestCertificates.server
        own = try TLSIdentity([own.chain[0]], own.key, called: "it")
        let alone = try refusal(of: own, trust: .systemRoots)
        #expect(alone?.message.contains("was issued by “CN=Duplex test authority”, which isn't known here") == true)
    }

    @Test("Signed by itself: refused, and let in by who is told to trust it")
    func selfSigned() throws {
        let identity = try TLSIdentity.selfSigned(for: ["localhost"])
        #expect(try refusal(of: identity)?.message.contains("is signed by itself") == true)
        #expect(try refusal(of: identity, trust: .roots(identity.certificates)) == nil)
        #expect(try refusal(of: identity, trust: .systemRoots.adding(identity.certificates)) == nil)
    }

    @Test("A certificate for clients isn't one for servers")
    func wrongPurpose() throws {
        let identity = try TestCertificates.issue(["localhost"], usage: "clientAuth")
        #expect(try refusal(of: identity)?.message.contains("isn't meant for this purpose") == true)
    }

    @Test("Without a check every peer is trusted")
    func insecure() throws {
        #expect(try refusal(of: .selfSigned(for: ["elsewhere.test"]), trust: .insecure) == nil)
    }

    // MARK: Pins

    @Test("One pin of several is enough, of the peer's key or of its authority's")
    func pins() throws {
        let spare = try TLSIdentity.selfSigned(for: ["spare"]).certificates[0].pin
        for certificate in try TestCertificates.server.certificates {
            let trust = try TestCertificates.trust.pinned(to: [spare, certificate.pin])
            #expect(try refusal(of: TestCertificates.server, trust: trust) == nil)
        }
        let error = try refusal(of: TestCertificates.server, trust: TestCertificates.trust.pinned(to: [spare]))
        #expect(error?.code == .untrustedPeer)
        #expect(error?.message.contains(try TestCertificates.server.certificates[0].pin) == true)
    }

    @Test("Pins don't make up for a certificate that isn't in order")
    func pinsOfStrangers() throws {
        let stranger = try TLSIdentity.selfSigned(for: ["localhost"])
        let trust = try TestCertificates.trust.pinned(to: [stranger.certificates[0].pin])
        #expect(try refusal(of: stranger, trust: trust)?.message.contains("signed by itself") == true)
        #expect(try refusal(of: stranger, trust: .insecure.pinned(to: [stranger.certificates[0].pin])) == nil)
    }

    @Test("Where nothing is verified, only the key counts that the peer has shown to have")
    func pinsOfCopies() throws {
        // The chain carries the pinned certificate of somebody else, whose key the peer doesn't have.
        let victim = try TestCertificates.server.chain[0]
        let thief = try TLSIdentity.selfSigned(for: ["localhost"])
        let copied = try TLSIdentity(thief.chain + [victim], thief.key, called: "it")
        let error = try refusal(of: copied, trust: .insecure.pinned(to: [TLSCertificate(victim).pin]))
        #expect(error?.message.contains("among the pins") == true)
    }

    @Test("Report-only tells and lets in")
    func reportOnly() throws {
        let reports = Mutex<[TLSPeer]>([])
        let spare = try TLSIdentity.selfSigned(for: ["spare"]).certificates[0].pin
        let trust = try TestCertificates.trust.pinned(to: [spare]) { peer in reports.withLock { $0.append(peer) } }
        #expect(try refusal(of: TestCertificates.server, trust: trust) == nil)
        let told = reports.withLock { $0 }
        #expect(told.count == 1)
        #expect(told.first?.certificates == (try TestCertificates.server.certificates))
        #expect(told.first?.failure?.message.contains("among the pins") == true)
    }

    @Test(
        "What can't be a pin is refused before anything is sent",
        arguments: [
            "", "sha256/", "sha1/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-A=",
        ]
    )
    func noPins(text: String) throws {
        let options = try TestCertificates.clientOptions { $0.trust = $0.trust.pinned(to: [text]) }
        #expect { try options.context() } throws: { "\($0)".contains("is not a pin") }
    }

    // MARK: Decisions

    @Test("A decision is told what is wrong, and has the last word", arguments: [true, false])
    func decision(isTrusted: Bool) throws {
        for (identity, isInOrder) in [
            (try TestCertificates.server, true), (try .selfSigned(for: ["localhost"]), false),
        ] {
            let options = try TestCertificates.clientOptions { $0.trust = $0.trust.decided { _ in isTrusted } }
            let pair = try EnginePair(options, TLSServerOptions(identity))
            pair.client.answer = isTrusted
            pair.run()
            #expect(pair.client.asked.count == 1, "\(String(describing: pair.client.failure))")
            #expect(pair.client.asked.first?.serverName == "localhost")
            #expect(pair.client.asked.first?.certificates == identity.certificates)
            #expect((pair.client.asked.first?.failure == nil) == isInOrder)
            #expect(pair.client.isComplete == isTrusted)
            #expect((pair.client.failure?.code == .untrustedPeer) == !isTrusted)
        }
    }
}

@Suite(.timeLimit(minutes: 1)) struct SystemRootsTests {
    private func read(_ roots: SystemRoots) async throws -> RootStore {
        let pending = PendingResult<RootStore>()
        roots.read { pending.finish($0) }
        return try await pending.value {}
    }

    @Test("The roots are read once, on a thread of their own, however many options are made meanwhile")
    func once() async throws {
        let gated = try GatedRoots()
        // Neither these calls nor the contexts wait for the gate.
        for _ in 0..<3 { _ = try gated.options.context() }
        async let first = read(gated.roots)
        async let second = read(gated.roots)
        #expect(gated.roots.store == nil)
        gated.open()
        let stores = try await [first, second]
        #expect(stores[0] === stores[1] && gated.roots.store === stores[0])
        #expect(try gated.roots.readNow() === stores[0])
        #expect(gated.count == 1)
    }

    @Test("An error isn't kept: the next one to ask has them read again")
    func failure() async throws {
        let gated = try GatedRoots(.failure(SocketError(.tls, message: "no roots")))
        for count in 1...2 {
            gated.open()
            await #expect { try await read(gated.roots) } throws: { ($0 as? SocketError)?.message == "no roots" }
            #expect(gated.count == count && gated.roots.store == nil)
        }
    }

    @Test("A server has them read when it is set up")
    func server() throws {
        let gated = try GatedRoots()
        gated.open()
        let server = try TestCertificates.serverOptions {
            $0.clientCertificates = .required(gated.options.trust.withoutNameCheck())
        }
        let client = try TestCertificates.clientOptions { $0.identity = try? TestCertificates.client }
        let pair = try EnginePair(client, server)
        pair.run()
        #expect(pair.client.isComplete && pair.server.isComplete && pair.server.failure == nil)
    }
}
