// Lucene: the peer of internal/ranking/bm25.
//
//   java --add-modules jdk.incubator.vector -cp "lucene-core.jar:lucene-analysis-common.jar" Bm25Lucene.java FOLDER THREADS
//
// FOLDER has passages.txt and queries.txt, one a line; the index is kept there. EnglishAnalyzer and BM25Similarity with k1
// 0.9 and b 0.4, one segment in memory, a query as Anserini makes it: its words, each boosted by
// how often it stands there. The searcher may skip what cannot be among the best. Prints a line of JSON after two passes, in
// which Java compiles, and seconds and work (queries) of one more for each line of standard input.
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.analysis.*;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.*;
import org.apache.lucene.util.Version;

public class Bm25Lucene {
  static Query parse(Analyzer analyzer, String text) throws IOException {
    Map<String, Integer> counts = new LinkedHashMap<>();
    try (TokenStream s = analyzer.tokenStream("contents", text)) {
      CharTermAttribute term = s.addAttribute(CharTermAttribute.class);
      s.reset();
      while (s.incrementToken()) counts.merge(term.toString(), 1, Integer::sum);
      s.end();
    }
    BooleanQuery.Builder b = new BooleanQuery.Builder();
    for (Map.Entry<String, Integer> e : counts.entrySet())
      b.add(new BoostQuery(new TermQuery(new Term("contents", e.getKey())), e.getValue()), BooleanClause.Occur.SHOULD);
    return b.build();
  }

  public static void main(String[] args) throws Exception {
    Path folder = Paths.get(args[0]);
    int threads = Integer.parseInt(args[1]);
    Analyzer analyzer = new EnglishAnalyzer();
    BM25Similarity similarity = new BM25Similarity(0.9f, 0.4f);
    Path kept = folder.resolve("lucene-" + Version.LATEST);
    if (!Files.exists(kept)) {
      Path made = folder.resolve("lucene.new-" + ProcessHandle.current().pid());
      try (Directory disk = FSDirectory.open(made);
          IndexWriter writer = new IndexWriter(disk, new IndexWriterConfig(analyzer).setSimilarity(similarity).setRAMBufferSizeMB(512))) {
        for (String text : Files.readAllLines(folder.resolve("passages.txt"))) {
          Document d = new Document();
          d.add(new TextField("contents", text, Field.Store.NO));
          writer.addDocument(d);
        }
        writer.forceMerge(1);
      }
      Files.move(made, kept);
    }
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    try (Directory disk = FSDirectory.open(kept)) {
      for (String file : disk.listAll()) directory.copyFrom(disk, file, file, IOContext.READONCE);
    }
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(directory));
    searcher.setSimilarity(similarity);
    searcher.setQueryCache(null);
    List<String> queries = Files.readAllLines(folder.resolve("queries.txt"));
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (int pass = 0; pass < 2 || lines.readLine() != null; pass++) {
      float[] first = new float[queries.size()];
      int[] found = new int[queries.size()];
      AtomicInteger next = new AtomicInteger();
      List<Future<?>> running = new ArrayList<>();
      long start = System.nanoTime();
      for (int t = 0; t < threads; t++)
        running.add(pool.submit(() -> {
          for (int i; (i = next.getAndIncrement()) < queries.size(); ) {
            ScoreDoc[] top = searcher.search(parse(analyzer, queries.get(i)), 100).scoreDocs;
            found[i] = top.length;
            if (top.length > 0) first[i] = top[0].score;
          }
          return null;
        }));
      for (Future<?> f : running) f.get();
      double seconds = (System.nanoTime() - start) / 1e9, best = 0;
      long hits = 0;
      for (int i = 0; i < first.length; i++) {
        hits += found[i];
        best += first[i];
      }
      if (pass > 0)
        System.out.printf(Locale.ROOT, "{\"is\": \"Lucene %s, Java %s with vectors\", \"seconds\": %f, \"work\": %d, \"check\": \"%d hits, the best score %.1f\"}%n", Version.LATEST, System.getProperty("java.version"), seconds, queries.size(), hits, best);
    }
    pool.shutdown();
  }
}
