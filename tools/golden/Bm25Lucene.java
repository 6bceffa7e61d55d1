// Tokens of Lucene's EnglishAnalyzer, and rankings of its BM25Similarity with queries as
// Anserini's BagOfWordsQueryGenerator makes them. Texts come as lines of Base64 from the
// standard input: "T" texts to split, "D" documents, "Q" queries. Written are lines of JSON.
//
//   java -cp anserini-0.22.1-fatjar.jar tools/golden/Bm25Lucene.java K1 B < lines
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.lucene.analysis.*;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.ByteBuffersDirectory;

public class Bm25Lucene {
  static List<String> tokens(Analyzer analyzer, String text) throws IOException {
    List<String> out = new ArrayList<>();
    try (TokenStream s = analyzer.tokenStream("contents", text)) {
      CharTermAttribute term = s.addAttribute(CharTermAttribute.class);
      s.reset();
      while (s.incrementToken()) out.add(term.toString());
      s.end();
    }
    return out;
  }

  static String quoted(String s) {
    StringBuilder b = new StringBuilder("\"");
    for (char c : s.toCharArray()) b.append(c < 0x20 || c > 0x7e || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : "" + c);
    return b.append('"').toString();
  }

  public static void main(String[] args) throws Exception {
    Analyzer analyzer = new EnglishAnalyzer();
    BM25Similarity similarity = new BM25Similarity(Float.parseFloat(args[0]), Float.parseFloat(args[1]));
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(analyzer).setSimilarity(similarity));
    List<String> queries = new ArrayList<>();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    PrintStream out = new PrintStream(new BufferedOutputStream(System.out), false, "UTF-8");
    for (String line; (line = in.readLine()) != null; ) {
      String text = new String(Base64.getDecoder().decode(line.substring(2).trim()), StandardCharsets.UTF_8);
      switch (line.charAt(0)) {
        case 'T':
          StringJoiner j = new StringJoiner(",", "[", "]");
          for (String t : tokens(analyzer, text)) j.add(quoted(t));
          out.println(j);
          break;
        case 'D':
          Document d = new Document();
          d.add(new TextField("contents", text, Field.Store.NO));
          writer.addDocument(d);
          break;
        default:
          queries.add(text);
      }
    }
    writer.forceMerge(1);
    writer.close();
    IndexReader reader = DirectoryReader.open(directory);
    IndexSearcher searcher = new IndexSearcher(reader);
    searcher.setSimilarity(similarity);
    for (String q : queries) {
      Map<String, Integer> counts = new LinkedHashMap<>();
      for (String t : tokens(analyzer, q)) counts.merge(t, 1, Integer::sum);
      BooleanQuery.Builder b = new BooleanQuery.Builder();
      for (Map.Entry<String, Integer> e : counts.entrySet())
        b.add(new BoostQuery(new TermQuery(new Term("contents", e.getKey())), e.getValue()), BooleanClause.Occur.SHOULD);
      StringJoiner j = new StringJoiner(",", "[", "]");
      for (ScoreDoc h : searcher.search(b.build(), Math.max(1, reader.maxDoc())).scoreDocs) j.add("[" + h.doc + "," + h.score + "]");
      out.println(j);
    }
    out.flush();
  }
}
