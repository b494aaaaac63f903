# SPDX-License-Identifier: Apache-2.0
# Copyright (c) the Duplex authors
"""Three `duplex serve --topics` that a Redis joins, and thousands of clients, while Redis and the servers come to harm.

Shares no code with Duplex. The run has acts: in each something is cut, stalled or killed while messages are published to topics whose
history is kept. Behind each act a last message is published to every topic. Once all clients have that, each of them must have had
every message whose publishing was confirmed, once and in one order; what wasn't confirmed has come to all of a topic or to none.
Only where Redis has lost its memory may something be missing, and then the client was told.

    topics_cluster.py DUPLEX [--clients 3000] [--topics 10000] [--seconds 15] [--seed 1] [--acts calm,cut,…]
"""
import argparse, asyncio, collections, json, logging, os, pathlib, random, resource, shutil, signal, socket, subprocess, sys, tempfile, time

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "scripts" / "more" / "peers"))
from limits import limit

DEADLINE = limit(120)   # for all clients to have the last message of an act
RATE = 400              # messages in a second, of all publishers
PUBLISHERS = 12
EACH = 10               # topics of a client


def note(text):
    print(f"{time.monotonic() - began:7.1f} s  {text}", file=sys.stderr, flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Redis:
    def __init__(self, folder):
        self.port, self.folder, self.process = free_port(), os.path.join(folder, "redis"), None

    async def start(self):
        os.makedirs(self.folder, exist_ok=True)
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--dir", self.folder, "--save", "", "--appendonly", "yes",
             "--appendfsync", "always"], stdout=subprocess.DEVNULL)
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(b"PING\r\n")
                answer = await reader.readline()
                writer.close()
                if answer.startswith(b"+PONG"):
                    return
            except OSError:
                pass
            await asyncio.sleep(0.05)

    def kill(self, forget=False):
        self.process.kill()
        self.process.wait()
        if forget:
            shutil.rmtree(self.folder)

    def stall(self, stalled):
        self.process.send_signal(signal.SIGSTOP if stalled else signal.SIGCONT)


class Proxy:
    """Between the servers and Redis: what goes through is cut behind so many bytes."""

    def __init__(self, port):
        self.target, self.port, self.pairs, self.cuts = port, free_port(), set(), 0

    async def start(self):
        await asyncio.start_server(self.accept, "127.0.0.1", self.port)

    async def accept(self, reader, writer):
        try:
            other, out = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        pair = {"left": None, "ends": (writer, out)}
        self.pairs.add(self.key(pair))
        try:
            await asyncio.gather(self.pump(reader, out, pair), self.pump(other, writer, pair))
        finally:
            self.pairs.discard(self.key(pair))
            for end in pair["ends"]:
                end.transport.abort()

    def key(self, pair):
        return Held(pair)

    async def pump(self, source, sink, pair):
        try:
            while data := await source.read(65536):
                left = pair["left"]
                if left is not None:
                    if len(data) >= left:
                        sink.write(data[:left])
                        await sink.drain()
                        self.cuts += 1
                        break
                    pair["left"] -= len(data)
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        for end in pair["ends"]:
            end.transport.abort()

    def cut(self, chance):
        for held in self.pairs:
            if chance.random() < 0.5 and held.pair["left"] is None:
                held.pair["left"] = chance.randint(1, 20000)


class Held:
    def __init__(self, pair):
        self.pair = pair

    def __hash__(self):
        return id(self.pair)

    def __eq__(self, other):
        return self.pair is other.pair


class Node:
    def __init__(self, program, number, proxy):
        self.program, self.number, self.proxy, self.port, self.process = program, number, proxy, free_port(), None

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "serve", "--port", str(self.port), "--quiet", "--topics", "--redis",
             f"redis://127.0.0.1:{self.proxy.port}"], stdout=subprocess.DEVNULL)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Session:
    """A connection that comes back at any of the servers."""

    def __init__(self, nodes, chance):
        self.nodes, self.chance, self.socket, self.id, self.asked = nodes, chance, None, 0, {}

    async def run(self):
        while True:
            node = self.chance.choice(self.nodes)
            try:
                async with connect(f"ws://127.0.0.1:{node.port}/topics", compression=None, ping_interval=None,
                                   open_timeout=limit(30), close_timeout=1, max_queue=None) as self.socket:
                    await self.opened()
                    async for text in self.socket:
                        self.take(json.loads(text))
            except (OSError, ConnectionClosed, TimeoutError, EOFError):
                pass
            except Exception as error:
                if type(error).__module__.split(".")[0] != "websockets":
                    raise
            self.socket = None
            asked, self.asked = self.asked, {}
            for answered in asked.values():
                answered({"error": "unanswered"})
            await asyncio.sleep(self.chance.random())

    def ask(self, request, answered):
        if self.socket is None:
            return answered({"error": "unanswered"})
        self.id += 1
        self.asked[self.id] = answered
        return self.send({"id": self.id, **request})

    def send(self, request):
        return asyncio.ensure_future(self.sent(json.dumps(request)))

    async def sent(self, text):
        try:
            if self.socket is not None:
                await self.socket.send(text)
        except ConnectionClosed:
            pass

    async def opened(self):
        pass

    def take(self, message):
        if "id" in message:
            answered = self.asked.pop(message["id"], None)
            if answered:
                answered(message)


class Client(Session):
    def __init__(self, nodes, chance, topics, world):
        super().__init__(nodes, chance)
        self.world, self.had = world, {topic: [] for topic in topics}
        self.position, self.live, self.told, self.unsure = {}, set(), set(), set()

    async def opened(self):
        self.live.clear()
        for topic in self.had:
            self.join(topic)

    def join(self, topic):
        position = self.position.get(topic)
        self.ask({"subscribe": topic, **({"after": position} if position else {})},
                 lambda answer: self.joined(topic, answer))

    def joined(self, topic, answer):
        if "ok" not in answer:
            if answer["error"] != "unanswered":
                self.world.fault(f"{topic}: not subscribed: {answer}")
            return
        first = topic not in self.position
        if answer.get("complete") is False and answer.get("position") and not first:
            self.told.add(topic)
        if answer.get("position"):
            self.position[topic] = answer["position"]
        elif first:
            return self.world.fault(f"{topic}: no position: {answer}")
        else:
            # The server can't reach what is kept, and goes on all the same: what comes shows whether something is missing.
            self.unsure.add(topic)
        self.live.add(topic)
        if first:
            self.world.joined += 1

    def take(self, message):
        if "topic" not in message:
            return super().take(message)
        topic = message["topic"]
        if topic not in self.live:
            return
        if "missed" in message:
            self.told.add(topic)
            return
        position = message["position"]
        (epoch, offset), (last, seen) = position.rsplit("-", 1), self.position[topic].rsplit("-", 1)
        if epoch == last and int(offset) <= int(seen) and topic in self.unsure:
            return
        if "gap" in message or (topic in self.unsure and (epoch != last or int(offset) != int(seen) + 1)):
            self.told.add(topic)
        self.unsure.discard(topic)
        self.position[topic] = position
        self.had[topic].append(message["text"])
        self.world.delivered += 1
        if message["text"].startswith("end:"):
            self.world.ended += 1


class Publisher(Session):
    def __init__(self, nodes, chance, name, world):
        super().__init__(nodes, chance)
        self.name, self.world, self.number, self.open = name, world, 0, 0

    def publish(self, topic, text=None):
        self.number += 1
        text = text or f"{self.name}:{self.number}"
        self.open += 1
        self.ask({"publish": topic, "text": text}, lambda answer: self.published(topic, text, answer))
        return text

    def published(self, topic, text, answer):
        self.open -= 1
        if "ok" in answer:
            self.world.confirmed[topic].append(text)
        else:
            self.world.unsure[topic].append(text)
            self.world.errors[answer["error"]] += 1


class World:
    def __init__(self, options, folder):
        self.options, self.chance = options, random.Random(options.seed)
        self.redis = Redis(folder)
        self.proxy = Proxy(self.redis.port)
        self.nodes = [Node(options.duplex, number, self.proxy) for number in range(3)]
        self.topics = [f"room/{number}" for number in range(options.topics)]
        self.delivered = self.joined = self.ended = 0
        self.faults, self.errors = [], collections.Counter()
        self.forget()
        self.publishers = [Publisher(self.nodes, self.split(), f"p{n}", self) for n in range(PUBLISHERS)]
        # Each topic has as many members as the others, of different clients where that can be.
        self.clients = [
            Client(self.nodes, self.split(), [self.topics[(n * EACH + k) % len(self.topics)] for k in range(EACH)], self)
            for n in range(options.clients)]
        self.used = sorted({topic for client in self.clients for topic in client.had})

    def split(self):
        return random.Random(self.chance.random())

    def forget(self):
        self.confirmed, self.unsure = collections.defaultdict(list), collections.defaultdict(list)

    def fault(self, text):
        self.faults.append(text)
        if len(self.faults) <= 20:
            note(f"FAULT {text}")

    async def until(self, condition, what, seconds=DEADLINE):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                self.fault(f"{what}: not within {seconds} s")
                return False
            await asyncio.sleep(0.05)
        return True

    # The acts: what happens while messages are published.

    async def calm(self, seconds):
        await asyncio.sleep(seconds)

    async def cut(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.proxy.cut(self.chance)
            await asyncio.sleep(self.chance.random())

    async def stalled(self, seconds):
        for pause in (0.5, 3, 1):
            self.redis.stall(True)
            await asyncio.sleep(pause)
            self.redis.stall(False)
            await asyncio.sleep(seconds / 5)

    async def stalled_long(self, seconds):
        self.redis.stall(True)
        await asyncio.sleep(25)
        self.redis.stall(False)
        await asyncio.sleep(seconds / 2)

    async def restarted(self, seconds):
        for pause in (0, 1, 4):
            await asyncio.sleep(seconds / 4)
            self.redis.kill()
            await asyncio.sleep(pause)
            await self.redis.start()
        await asyncio.sleep(seconds / 4)

    async def forgotten(self, seconds):
        await asyncio.sleep(seconds / 3)
        self.redis.kill(forget=True)
        await asyncio.sleep(1)
        await self.redis.start()
        await asyncio.sleep(seconds / 2)

    async def nodes_killed(self, seconds):
        for node in self.nodes:
            await asyncio.sleep(seconds / 4)
            node.kill()
            await asyncio.sleep(1)
            node.start()
        await asyncio.sleep(seconds / 4)

    async def all(self, seconds):
        await asyncio.gather(self.cut(2 * seconds), self.restarted(2 * seconds), self.nodes_killed(2 * seconds))

    async def act(self, name):
        self.forget()
        for client in self.clients:
            client.told.clear()
            for had in client.had.values():
                had.clear()
        self.errors.clear()
        before, cuts = self.delivered, self.proxy.cuts
        publishing = asyncio.ensure_future(self.publish())
        await getattr(self, name)(self.options.seconds)
        publishing.cancel()
        await self.until(lambda: not any(publisher.open for publisher in self.publishers), "answers to publications")
        if not await self.finish(name):
            return
        sure = sum(map(len, self.confirmed.values())) - len(self.used)
        missing, told = self.check(name)
        note(f"{name}: {sure} confirmed, {sum(map(len, self.unsure.values()))} unsure {dict(self.errors) or ''}, "
             f"{self.delivered - before} delivered, {self.proxy.cuts - cuts} cut; missing {missing}, told of gaps {told}")

    async def publish(self):
        while True:
            await asyncio.sleep(0.05)
            for _ in range(RATE // 20):
                publisher = self.chance.choice(self.publishers)
                if publisher.socket is not None:
                    publisher.publish(self.chance.choice(self.used))

    async def finish(self, name):
        """Publishes the last message to each topic, until it is confirmed; waits until all clients have it."""
        members = sum(len(client.had) for client in self.clients)
        self.ended, left = 0, collections.deque(self.used)
        end = time.monotonic() + DEADLINE
        marks = {topic: f"end:{name}" for topic in self.used}
        while left and time.monotonic() < end:
            publisher = self.chance.choice(self.publishers)
            if publisher.socket is None or publisher.open > 50:
                await asyncio.sleep(0.005)
                continue
            topic = left.popleft()
            count = len(self.unsure[topic])
            publisher.publish(topic, marks[topic])
            if len(self.unsure[topic]) > count:
                left.append(topic)
        done = await self.until(lambda: not any(publisher.open for publisher in self.publishers), f"{name}: ends published")
        for topic in self.used:
            if marks[topic] not in self.confirmed[topic]:
                self.fault(f"{name}: {topic}: the end wasn't confirmed")
        return done and await self.until(
            lambda: self.ended >= members, f"{name}: all clients have the end ({members})") or self.lacking(name)

    def lacking(self, name):
        for number, client in enumerate(self.clients):
            for topic, had in client.had.items():
                if f"end:{name}" not in had:
                    self.fault(f"{name}: client {number} at {client.socket and client.socket.remote_address} lacks the end of {topic}, "
                               f"position {client.position.get(topic)}, live {topic in client.live}, had {had[-3:]}, "
                               f"confirmed {self.confirmed[topic][-3:]}")
        return False

    def check(self, name):
        missing, told, orders = 0, 0, {}
        loses = name == "forgotten"
        for number, client in enumerate(self.clients):
            told += len(client.told)
            if client.told and not loses:
                self.fault(f"{name}: client {number} was told of a gap of {client.told}")
            for topic, had in client.had.items():
                if len(set(had)) != len(had):
                    self.fault(f"{name}: client {number} had something of {topic} twice: {had}")
                lacks = set(self.confirmed[topic]) - set(had)
                missing += len(lacks)
                if lacks and not (loses and topic in client.told):
                    self.fault(f"{name}: client {number} lacks {lacks} of {topic}")
                last = {}
                for text in had:
                    publisher, _, value = text.partition(":")
                    if publisher != "end":
                        if int(value) <= last.get(publisher, 0):
                            self.fault(f"{name}: client {number} had {text} of {topic} behind {last[publisher]}")
                        last[publisher] = int(value)
                order = orders.setdefault(topic, had)
                if order != had and not loses:
                    self.fault(f"{name}: client {number} had of {topic} {had}, another {order}")
        return missing, told

    async def monitor(self):
        """As many members more as there are, of topics that have some: no command in Redis speaks of these."""
        lines = []
        reader, writer = await asyncio.open_connection("127.0.0.1", self.redis.port)
        writer.write(b"MONITOR\r\n")
        await reader.readline()
        more = [Client([client.nodes[0]], self.split(), list(client.had), self) for client in self.clients[:300]]
        there = {topic for client in self.clients if client.socket and client.socket.remote_address[1] == self.nodes[0].port
                 for topic in client.had}
        for client in more:
            client.had = {topic: [] for topic in client.had if topic in there}
        count = self.joined + sum(len(client.had) for client in more)
        tasks = [asyncio.ensure_future(client.run()) for client in more]
        await self.until(lambda: self.joined >= count, "members more")
        writer.write(b"PING\r\n")
        while line := await asyncio.wait_for(reader.readline(), 10):
            lines.append(line)
            if b"PONG" in line:
                break
        writer.close()
        commands = [line for line in lines if b"room/" in line]
        if commands:
            self.fault(f"MONITOR shows for members more: {commands[:3]}")
        note(f"MONITOR: {sum(len(client.had) for client in more)} members more at one server, {len(commands)} commands about their topics")
        for task in tasks:
            task.cancel()

    async def run(self):
        await self.redis.start()
        await self.proxy.start()
        for node in self.nodes:
            node.start()
        tasks = [asyncio.ensure_future(session.run()) for session in self.publishers + self.clients]
        try:
            members = sum(len(client.had) for client in self.clients)
            await self.until(lambda: self.joined >= members, f"{members} subscriptions")
            note(f"{len(self.clients)} clients, {members} subscriptions to {len(self.used)} topics at 3 servers")
            await self.monitor()
            for name in self.options.acts.split(","):
                await self.act(name)
                for task in tasks:
                    if task.done():
                        task.result()
        finally:
            for node in self.nodes:
                if node.process:
                    node.process.kill()
            self.redis.stall(False)
            self.redis.process.kill()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("duplex")
    parser.add_argument("--clients", type=int, default=3000)
    parser.add_argument("--topics", type=int, default=10000)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--acts", default="calm,cut,stalled,stalled_long,restarted,nodes_killed,all,forgotten,calm")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    # A connection that is cut off while something is sent is what this is about.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    folder = tempfile.mkdtemp()
    world = World(options, folder)
    try:
        await world.run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{world.delivered} messages delivered, {len(world.faults)} faults")
    sys.stdout.flush()
    # Without waiting for thousands of tasks to be cancelled.
    os._exit(bool(world.faults))


began = time.monotonic()
asyncio.run(main())
